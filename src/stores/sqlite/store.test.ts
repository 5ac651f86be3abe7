import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { givenTask } from '../contract/given.ts';
import { createSqliteStore } from './store.ts';

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-open-'));
  path = join(directory, 'longcall.db');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () => createSqliteStore({ path, clock: systemClock, random: systemRandom });

/** Writes into the closed database by hand. */
function alter(sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

const stepOfTheFuture = (breaking: number) =>
  `INSERT INTO schema_versions (version, name, breaking, applied_at)
   VALUES (99, 'of-the-future', ${breaking}, 0)`;

describe('a store of a newer longcall', () => {
  test('is not opened when it cannot be understood, and stays as it is', async () => {
    await (await open()).close();
    alter(stepOfTheFuture(1));
    const before = readFileSync(path);
    await expect(open()).rejects.toMatchObject({
      code: 'LONGCALL_STORE_SCHEMA_TOO_NEW',
      message: expect.stringContaining('schema 99, of-the-future'),
      exitCode: 2,
    });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('is opened when it can, and says how new it is', async () => {
    await (await open()).close();
    alter(stepOfTheFuture(0));
    const store = await open();
    expect(await store.check()).toMatchObject({ ok: true, schemaVersion: 99 });
    await store.close();
  });
});

describe('a file that is no store', () => {
  test('in a directory that is not there is named', async () => {
    path = join(directory, 'missing/longcall.db');
    await expect(open()).rejects.toMatchObject({
      code: 'LONGCALL_STORE_FAILED',
      message: expect.stringContaining(path),
    });
  });

  test('of another kind is refused, and stays as it is', async () => {
    writeFileSync(path, 'no database at all '.repeat(100));
    await expect(open()).rejects.toMatchObject({ code: 'LONGCALL_STORE_FAILED' });
    expect(readFileSync(path, 'utf8')).toBe('no database at all '.repeat(100));
  });

  test('because it was damaged is told by the check', async () => {
    const first = await open();
    await Promise.all(Array.from({ length: 500 }, () => givenTask(first)));
    await first.close();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, bytes.length * 0.75);
    writeFileSync(path, bytes);
    const store = await open();
    const health = await store.check();
    expect(health).toMatchObject({ kind: 'sqlite', ok: false });
    expect(health.detail).toContain(path);
    expect(health.detail.length).toBeGreaterThan(path.length + 10);
    await store.close();
  });
});
