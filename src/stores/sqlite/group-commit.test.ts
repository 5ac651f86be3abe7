import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSetClock } from '../contract/scene.ts';
import { BATCH_WRITES_MAX, createGroupCommit } from './group-commit.ts';
import type { GroupCommit } from './group-commit.ts';

const SCHEMA = `
  PRAGMA foreign_keys = ON;
  CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE rows (
    id INTEGER PRIMARY KEY,
    parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED
  ) STRICT;`;

let db = new DatabaseSync(':memory:');
let clock = createSetClock();
let commit: GroupCommit;
let transactions = 0;

beforeEach(() => {
  db = new DatabaseSync(':memory:');
  db.exec(SCHEMA);
  transactions = 0;
  clock = createSetClock();
  // The store's time is read once per transaction, so counting reads counts transactions.
  const counting = { ...clock, now: () => ((transactions += 1), clock.now()) };
  commit = createGroupCommit(db, counting);
});

const insert = (id: number) => () => {
  db.prepare('INSERT INTO rows (id) VALUES (?)').run(id);
  return id;
};
const insertOrphan = (id: number) => () => {
  db.prepare('INSERT INTO rows (id, parent) VALUES (?, 404)').run(id);
  return id;
};
const stored = () =>
  db
    .prepare('SELECT id FROM rows ORDER BY id')
    .all()
    .map((row) => row['id']);
const range = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('a write that nobody waits for', () => {
  test('goes with the next transaction', async () => {
    const soon = commit.writeSoon(insert(1));
    await commit.write(insert(2));
    expect(await soon).toBe(1);
    expect(transactions).toBe(1);
  });

  test('gets one of its own when nothing else comes', async () => {
    expect(await commit.writeSoon(insert(1))).toBe(1);
    expect(stored()).toEqual([1]);
  });

  test('is committed by closing', async () => {
    const soon = commit.writeSoon(insert(1));
    commit.close();
    expect(await soon).toBe(1);
    await expect(commit.writeSoon(insert(2))).rejects.toMatchObject({
      code: 'LONGCALL_STORE_CLOSED',
    });
  });
});

describe('writes of one turn of the event loop', () => {
  test('share a transaction', async () => {
    const ids = await Promise.all(range(64).map((id) => commit.write(insert(id))));
    expect(ids).toEqual(range(64));
    expect(stored()).toEqual(range(64));
    expect(transactions).toBe(1);
  });

  test('share it also when they are asked for in microtasks', async () => {
    const later = async (id: number) => {
      await Promise.resolve();
      await Promise.resolve();
      return commit.write(insert(id));
    };
    await Promise.all(range(10).map(later));
    expect(transactions).toBe(1);
  });

  test('are cut into batches', async () => {
    const count = BATCH_WRITES_MAX * 2 + 1;
    await Promise.all(range(count).map((id) => commit.write(insert(id))));
    expect(stored()).toHaveLength(count);
    expect(transactions).toBe(3);
  });

  test('are not seen, and not answered, before they are committed', async () => {
    let answered = false;
    const written = commit.write(insert(1)).then(() => (answered = true));
    expect(await commit.read(stored)).toEqual([]);
    expect(answered).toBe(false);
    await written;
    expect(await commit.read(stored)).toEqual([1]);
  });
});

describe('a write that fails', () => {
  test('by throwing is undone whole and answered with what it threw; the others stand', async () => {
    const poison = () => {
      insert(99)();
      throw new RangeError('poison');
    };
    const ends = await Promise.allSettled([
      commit.write(insert(1)),
      commit.write(poison),
      commit.write(insert(2)),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({ reason: { name: 'RangeError', message: 'poison' } });
    expect(stored()).toEqual([1, 2]);
  });

  test('alone is undone whole', async () => {
    const poison = () => {
      insert(1)();
      throw new Error('poison');
    };
    await expect(commit.write(poison)).rejects.toThrow('poison');
    expect(stored()).toEqual([]);
    await commit.write(insert(1));
  });

  test('only when it is committed hurts nobody else either', async () => {
    const ends = await Promise.allSettled([
      commit.write(insert(1)),
      commit.write(insertOrphan(2)),
      commit.write(insert(3)),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({
      reason: { code: 'LONGCALL_STORE_FAILED', data: { written: 'no' } },
    });
    expect(stored()).toEqual([1, 3]);
  });

  test('does not stop the next ones', async () => {
    await expect(commit.write(insertOrphan(1))).rejects.toThrow('FOREIGN KEY');
    expect(await commit.write(insert(2))).toBe(2);
    expect(stored()).toEqual([2]);
  });
});

describe('reading', () => {
  test('that throws rejects', async () => {
    const broken = () => db.prepare('SELECT nothing FROM nowhere').all();
    await expect(commit.read(broken)).rejects.toMatchObject({ code: 'LONGCALL_STORE_FAILED' });
  });

  test('gets the time of now', async () => {
    clock.set(7);
    expect(await commit.read((now) => now)).toBe(7);
  });
});

describe('closing', () => {
  test('commits what waits, in batches, and then refuses', async () => {
    const count = BATCH_WRITES_MAX + 10;
    const written = Promise.all(range(count).map((id) => commit.write(insert(id))));
    commit.close();
    expect(stored()).toHaveLength(count);
    await written;
    const closed = { code: 'LONGCALL_STORE_CLOSED' };
    await expect(commit.write(insert(0))).rejects.toMatchObject(closed);
    await expect(commit.read(stored)).rejects.toMatchObject(closed);
  });
});
