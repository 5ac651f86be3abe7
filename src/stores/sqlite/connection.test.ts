import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openConnection } from './connection.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-connection-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What makes a COMMIT durable and a reference kept; the numbers are SQLite's own. */
const PRAGMAS = [
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['foreign_keys', 1],
  ['busy_timeout', 5000],
  ['trusted_schema', 0],
] as const;

test.each(PRAGMAS)('a connection has %s = %s', (pragma, value) => {
  const db = openConnection(join(directory, 'a.db'));
  expect(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})).toEqual([value]);
  db.close();
});

test('a file that is no database is not opened, and not touched', () => {
  expect(() => openConnection(directory)).toThrow(/unable to open/);
});
