import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DataLock } from './data-lock.ts';
import { inspectDataLock, lockDataDirectory } from './data-lock.ts';

const BUILT = new URL('../../../dist/stores/sqlite/data-lock.js', import.meta.url).href;

/** Takes the lock and keeps nothing that refers to it, collects garbage again and again, and stays. */
const HOLDER = `
  const { lockDataDirectory } = await import(${JSON.stringify(BUILT)});
  await lockDataDirectory(process.argv[1]);
  globalThis.gc();
  setInterval(() => globalThis.gc(), 20);
  process.stdout.write('held');`;
/** Tries once and tells how it went. */
const CONTENDER = `
  const { lockDataDirectory } = await import(${JSON.stringify(BUILT)});
  const told = await lockDataDirectory(process.argv[1]).then(() => 'held', (error) => error.code);
  process.stdout.write(told);`;

let home = '';
let directory = '';
const children: ChildProcess[] = [];
const locks: DataLock[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'longcall-lock-'));
  directory = join(home, 'deep/data');
});
afterEach(async () => {
  for (const taken of locks.splice(0)) taken.release();
  await Promise.all(children.splice(0).map(end));
  rmSync(home, { recursive: true, force: true });
});

async function lock(): Promise<DataLock> {
  const taken = await lockDataDirectory(directory);
  locks.push(taken);
  return taken;
}

function start(program: string): ChildProcess {
  const flags = ['--no-warnings', '--expose-gc', '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, [...flags, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** The first words that a process writes. */
function words(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    child.once('exit', (code) => reject(new Error(`left with ${code} and said nothing`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

describe('a data directory', () => {
  test('is created for its user only', async () => {
    expect((await lock()).directory).toBe(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test('has a lock that nobody else can take', async () => {
    await lock();
    expect(statSync(join(directory, 'longcall.lock')).mode & 0o777).toBe(0o600);
  });

  test('has one owner in this process', async () => {
    const first = await lock();
    await expect(lockDataDirectory(directory)).rejects.toMatchObject({
      code: 'LONGCALL_DATA_LOCKED',
      message: `the data directory ${directory} is in use by process ${process.pid}`,
      data: { directory, pid: process.pid },
    });
    await expect(lockDataDirectory(directory)).rejects.toThrow('in use');
    expect(await words(start(CONTENDER))).toBe('LONGCALL_DATA_LOCKED');
    first.release();
    first.release();
    await lock();
  });

  test('is free for another process once it was released', async () => {
    (await lock()).release();
    expect(await words(start(HOLDER))).toBe('held');
    await expect(lockDataDirectory(directory)).rejects.toThrow('in use');
  });
});

describe('another process that holds it', () => {
  test('keeps it as long as it lives, and is named', async () => {
    const holder = start(HOLDER);
    await words(holder);
    expect(await words(start(CONTENDER))).toBe('LONGCALL_DATA_LOCKED');
    await expect(lockDataDirectory(directory)).rejects.toMatchObject({
      code: 'LONGCALL_DATA_LOCKED',
      message: expect.stringContaining(`process ${holder.pid}`),
    });
  });

  test('loses it the moment it is killed', async () => {
    const holder = start(HOLDER);
    await words(holder);
    await end(holder);
    await lock();
    expect(await words(start(CONTENDER))).toBe('LONGCALL_DATA_LOCKED');
  });

  test('is one of many that start at once', async () => {
    const told = await Promise.all(Array.from({ length: 4 }, () => words(start(CONTENDER_STAYS))));
    expect(told.filter((word) => word === 'held')).toHaveLength(1);
    expect(told.filter((word) => word === 'LONGCALL_DATA_LOCKED')).toHaveLength(3);
  });
});

const CONTENDER_STAYS = `${CONTENDER}; setInterval(() => undefined, 1000);`;

describe('a directory that cannot be used', () => {
  test.each([
    ['deep/data', 'a file in its place'],
    ['deep', 'a file above it'],
    ['deep/data/longcall.lock', 'a lock file that is none'],
    ['deep/data/longcall.pid/x', 'no place for the pid'],
  ])('%s: %s is told', async (file) => {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(
      join(home, file),
      'something else, and long enough to be read as a header'.repeat(9),
    );
    await expect(lockDataDirectory(directory)).rejects.toMatchObject({
      code: 'LONGCALL_DATA_UNUSABLE',
      message: expect.stringContaining(directory),
      data: { directory },
    });
  });
});

describe('looking at the lock', () => {
  test('names the process that holds it, and takes nothing from it', async () => {
    const holder = start(HOLDER);
    await words(holder);
    expect(inspectDataLock(directory)).toEqual({ held: true, pid: holder.pid, holder: 'alone' });
    expect(inspectDataLock(directory)).toEqual({ held: true, pid: holder.pid, holder: 'alone' });
    expect(await words(start(CONTENDER))).toBe('LONGCALL_DATA_LOCKED');
  });

  test('sees at once that its process was killed', async () => {
    const holder = start(HOLDER);
    await words(holder);
    await end(holder);
    expect(inspectDataLock(directory)).toEqual({ held: false });
  });

  test('says nothing of a directory that nobody ever took, and makes none', () => {
    expect(inspectDataLock(directory)).toEqual({ held: false });
    expect(statSync(directory, { throwIfNoEntry: false })).toBeUndefined();
  });
});
