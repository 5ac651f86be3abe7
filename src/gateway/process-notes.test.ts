import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createProcessNotes, endOrphans } from './process-notes.ts';

function notesFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-notes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'children.json');
}

async function sleeper(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  onTestFinished(() => void child.kill('SIGKILL'));
  return child as ChildProcess & { readonly pid: number };
}

const readNotes = (file: string): readonly Record<string, unknown>[] =>
  JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>[];

test('a process that was noted is ended, once', async () => {
  const file = notesFile();
  const child = await sleeper();
  createProcessNotes(file).add(child.pid);
  const gone = once(child, 'exit');
  expect(await endOrphans(file)).toBe(1);
  await gone;
  expect(await endOrphans(file)).toBe(0);
});

test('a process that only has the same id is never hit', async () => {
  const file = notesFile();
  const child = await sleeper();
  createProcessNotes(file).add(child.pid);
  const [note] = readNotes(file);
  for (const other of [{ startTime: '1' }, { bootId: 'another boot' }]) {
    writeFileSync(file, JSON.stringify([{ ...note, ...other }]));
    expect(await endOrphans(file)).toBe(0);
  }
  expect(child.exitCode).toBeNull();
});

test('what is no note is left alone', async () => {
  const file = notesFile();
  expect(await endOrphans(file)).toBe(0);
  for (const text of [
    '',
    '{',
    '{}',
    '[null, 7, {"pid":1,"startTime":"x","bootId":"y"}, {"pid":"12"}]',
  ]) {
    writeFileSync(file, text);
    expect(await endOrphans(file)).toBe(0);
  }
});

test('a process that has ended is struck out', async () => {
  const file = notesFile();
  const [first, second] = [await sleeper(), await sleeper()];
  const notes = createProcessNotes(file);
  notes.add(first.pid);
  notes.add(second.pid);
  notes.remove(first.pid);
  expect(readNotes(file)).toMatchObject([{ pid: second.pid }]);
});

test('a folder that is gone costs nothing but the note, and the next one that can be written has them all', async () => {
  const file = notesFile();
  const [first, second] = [await sleeper(), await sleeper()];
  const failures: unknown[] = [];
  const notes = createProcessNotes(file, (problem) => void failures.push(problem));
  rmSync(dirname(file), { recursive: true });
  notes.add(first.pid);
  expect(failures).toMatchObject([{ code: 'ENOENT' }]);
  mkdirSync(dirname(file));
  notes.add(second.pid);
  expect(readNotes(file)).toMatchObject([{ pid: first.pid }, { pid: second.pid }]);
});
