import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { inspectSqliteFile } from './inspect.ts';
import { createSqliteStore } from './store.ts';

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-inspect-'));
  path = join(directory, 'longcall.db');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function makeStore(): Promise<void> {
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  await store.close();
}

test('nothing is said about a file that is not there, and none is made', () => {
  expect(inspectSqliteFile(path)).toBeUndefined();
  expect(() => readFileSync(path)).toThrow('ENOENT');
});

test('a sound store is told with its schema and not changed', async () => {
  await makeStore();
  const before = readFileSync(path);
  expect(inspectSqliteFile(path)).toEqual({
    kind: 'sqlite',
    schemaVersion: 1,
    ok: true,
    detail: path,
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('a store can be looked at beside the process that serves it', async () => {
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  expect(inspectSqliteFile(path)).toMatchObject({ ok: true });
  await store.close();
});

test('an older and a newer schema are told, and neither is migrated', async () => {
  await makeStore();
  const db = new DatabaseSync(path);
  db.exec(`INSERT INTO schema_versions VALUES (99, 'from-the-future', 1, 0)`);
  db.close();
  expect(inspectSqliteFile(path)).toMatchObject({ schemaVersion: 99, ok: true });
  expect(inspectSqliteFile(path)?.detail).toContain('newer than');
  const empty = new DatabaseSync(path);
  empty.exec('DROP TABLE schema_versions');
  empty.close();
  expect(inspectSqliteFile(path)).toMatchObject({ schemaVersion: 0, ok: true });
  expect(inspectSqliteFile(path)?.detail).toContain('the next start brings to');
});

test('a damaged file and one that is no database are unsound', async () => {
  writeFileSync(path, 'this is no database, however long it goes on'.repeat(100));
  expect(inspectSqliteFile(path)).toMatchObject({ ok: false });
  rmSync(path);
  await makeStore();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096 * 2, 4096 * 6);
  writeFileSync(path, bytes);
  expect(inspectSqliteFile(path)).toMatchObject({ ok: false });
});
