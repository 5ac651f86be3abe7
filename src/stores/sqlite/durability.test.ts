import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements/verifies.ts';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { ALICE } from '../contract/people.ts';
import type { Store } from '../store.ts';
import { createSqliteStore } from './store.ts';

const built = (path: string) => new URL(`../../../dist/${path}`, import.meta.url).href;

/**
 * Creates tasks many at a time and writes each id out once its promise has resolved; goes on until it is killed.
 * Ids are written one per line, synchronously, so that what was said before the kill has arrived.
 */
const WRITER = `
  import { writeSync } from 'node:fs';
  const { createSqliteStore } = await import(${JSON.stringify(built('stores/sqlite/store.js'))});
  const { systemClock } = await import(${JSON.stringify(built('kernel/clock.js'))});
  const { systemRandom } = await import(${JSON.stringify(built('kernel/random.js'))});
  const { draftTask, settlement } = await import(${JSON.stringify(built('stores/contract/given.js'))});
  const path = process.argv[1];
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  const work = async () => {
    for (;;) {
      const draft = draftTask();
      await store.tasks.create(draft);
      writeSync(1, 'created ' + draft.task.id + '\\n');
      await store.tasks.settle(settlement(draft.task.id));
      writeSync(1, 'settled ' + draft.task.id + '\\n');
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));`;

/** Opens the store and leaves. */
const OPENER = `
  const { createSqliteStore } = await import(${JSON.stringify(built('stores/sqlite/store.js'))});
  const { systemClock } = await import(${JSON.stringify(built('kernel/clock.js'))});
  const { systemRandom } = await import(${JSON.stringify(built('kernel/random.js'))});
  const path = process.argv[1];
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  await store.close();`;

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-durable-'));
  path = join(directory, 'longcall.db');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () => createSqliteStore({ path, clock: systemClock, random: systemRandom });

function start(program: string) {
  const flags = ['--no-warnings', '--input-type=module', '--eval', program];
  return spawn(process.execPath, [...flags, path], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Runs the writer until it has said `lines` lines, kills it in the middle of its work, and answers all it said. */
async function killedAfter(lines: number): Promise<readonly string[]> {
  const child = start(WRITER);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    if (said.split('\n').length > lines) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  expect(child.signalCode).toBe('SIGKILL');
  return said.split('\n').filter((line) => line.length > 8);
}

async function expectKept(store: Store, said: readonly string[]): Promise<void> {
  for (const line of said) {
    const [what, id = ''] = line.split(' ');
    const task = await store.tasks.get(ALICE, id);
    expect(task, line).toBeDefined();
    if (what === 'settled') expect(task?.phase).toBe('ended');
  }
}

describe('after a SIGKILL', () => {
  verifies(['G2-27', 'G2-28'], 'everything that was promised is there', async () => {
    const said: string[] = [];
    for (const lines of [1, 50, 400]) {
      said.push(...(await killedAfter(lines)));
      const store = await open();
      expect((await store.check()).ok).toBe(true);
      await expectKept(store, said);
      await store.close();
    }
    expect(said.length).toBeGreaterThan(450);
  });
});

describe('a new database file', () => {
  test('can be read by its owner only, log files too', async () => {
    const store = await open();
    for (const file of [path, `${path}-wal`, `${path}-shm`]) {
      expect(statSync(file).mode & 0o077, file).toBe(0);
    }
    await store.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('may be opened by several processes at the same moment', async () => {
    const codes = await Promise.all(
      Array.from({ length: 4 }, () => {
        const child = start(OPENER);
        return new Promise((resolve) => child.once('exit', resolve));
      }),
    );
    expect(codes).toEqual([0, 0, 0, 0]);
    const store = await open();
    expect(await store.check()).toMatchObject({ ok: true, kind: 'sqlite' });
    await store.close();
  });
});
