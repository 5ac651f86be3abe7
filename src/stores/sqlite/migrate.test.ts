import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import type { Migration } from './migrate.ts';

const step = (version: number, sql: string, breaking = false): Migration => ({
  version,
  name: `step-${version}`,
  breaking,
  sql,
});
const ONE = step(1, 'CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1)');
const TWO = step(2, 'ALTER TABLE a ADD COLUMN y TEXT');
const THREE = step(3, 'CREATE TABLE b (x INTEGER) STRICT');
const THREE_BREAKS = step(3, 'DROP TABLE a', true);

let db = new DatabaseSync(':memory:');
beforeEach(() => {
  db = new DatabaseSync(':memory:');
});

const versions = () => db.prepare('SELECT version FROM schema_versions').all();
const rowsOfA = () => db.prepare('SELECT * FROM a').all();

describe('an old schema', () => {
  test('is brought up to date step by step, each once', () => {
    expect(migrate(db, [ONE], 5)).toBe(1);
    expect(migrate(db, [ONE, TWO], 6)).toBe(2);
    expect(migrate(db, [ONE, TWO], 7)).toBe(2);
    expect(rowsOfA()).toEqual([{ x: 1, y: null }]);
    const applied = db.prepare('SELECT version, applied_at FROM schema_versions').all();
    expect(applied).toMatchObject([{ applied_at: 5 }, { applied_at: 6 }]);
  });

  test('stays whole as it was when one step fails', () => {
    migrate(db, [ONE], 0);
    const broken = step(3, 'CREATE TABLE c (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)');
    expect(() => migrate(db, [ONE, TWO, broken], 0)).toThrow('nowhere');
    expect(versions()).toHaveLength(1);
    expect(rowsOfA()).toEqual([{ x: 1 }]);
    expect(migrate(db, [ONE, TWO, THREE], 0)).toBe(3);
  });
});

describe('a newer schema', () => {
  test('whose step breaks old code is refused, and left alone', () => {
    migrate(db, [ONE, TWO, THREE_BREAKS], 0);
    expect(() => migrate(db, [ONE, TWO], 0)).toThrow(
      expect.objectContaining({ code: 'LONGCALL_STORE_SCHEMA_TOO_NEW' }),
    );
    expect(versions()).toHaveLength(3);
  });

  test('is refused also when the breaking step is not the last', () => {
    migrate(db, [ONE, TWO, THREE_BREAKS, step(4, 'CREATE TABLE c (x INTEGER) STRICT')], 0);
    expect(() => migrate(db, [ONE, TWO], 0)).toThrow('step-3');
  });

  test('whose steps break nothing is worked with', () => {
    migrate(db, [ONE, TWO, THREE], 0);
    expect(migrate(db, [ONE, TWO], 0)).toBe(3);
    expect(rowsOfA()).toHaveLength(1);
  });

  test('with breaking steps that are known here is fine', () => {
    migrate(db, [ONE, TWO, THREE_BREAKS], 0);
    expect(migrate(db, [ONE, TWO, THREE_BREAKS], 0)).toBe(3);
  });
});
