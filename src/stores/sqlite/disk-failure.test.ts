import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { ALICE } from '../contract/people.ts';
import { openConnection } from './connection.ts';
import { createGroupCommit } from './group-commit.ts';
import { createSqliteStore } from './store.ts';

const built = (path: string) => new URL(`../../../dist/${path}`, import.meta.url).href;

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-disk-'));
  path = join(directory, 'longcall.db');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a full disk', () => {
  test('is told as such, keeps what was there, and heals when there is room', async () => {
    const db = openConnection(path);
    db.exec('CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB) STRICT');
    const commit = createGroupCommit(db, systemClock);
    const insert = (bytes: number) =>
      commit.write(() => db.prepare('INSERT INTO bodies (body) VALUES (zeroblob(?))').run(bytes));
    await insert(10);
    db.exec('PRAGMA max_page_count = 20');
    const ends = await Promise.allSettled([insert(10), insert(1e6), insert(10)]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toMatchObject({
      reason: { code: 'LONGCALL_STORE_FULL', retryable: true, data: { written: 'no' } },
    });
    db.exec('PRAGMA max_page_count = 10000');
    await insert(1e6);
    expect(db.prepare('SELECT id FROM bodies').all()).toHaveLength(4);
    db.close();
  });
});

/**
 * Creates tasks under a limit on the size of files, as a disk that fails in the middle of a COMMIT would: tells the
 * ids of those that were promised, then how the first failure looked, and whether reading still works.
 */
const WRITER = `
  const { createSqliteStore } = await import(${JSON.stringify(built('stores/sqlite/store.js'))});
  const { systemClock } = await import(${JSON.stringify(built('kernel/clock.js'))});
  const { systemRandom } = await import(${JSON.stringify(built('kernel/random.js'))});
  const { draftTask } = await import(${JSON.stringify(built('stores/contract/given.js'))});
  const path = process.argv[1];
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  const promised = [];
  let failure;
  while (failure === undefined) {
    const drafts = Array.from({ length: 5 }, () => draftTask());
    const ends = await Promise.allSettled(drafts.map((draft) => store.tasks.create(draft)));
    ends.forEach((end, index) => {
      if (end.status === 'fulfilled') promised.push(drafts[index].task.id);
      else failure = { code: end.reason.code, written: end.reason.data.written };
    });
  }
  const seen = await store.tasks.get('system', promised[0]);
  process.stdout.write(JSON.stringify({ promised, failure, seen: seen !== undefined }));`;

interface Told {
  readonly promised: readonly string[];
  readonly failure: { readonly code: string; readonly written: string };
  readonly seen: boolean;
}

async function runWithFileLimit(kib: number): Promise<Told> {
  const command = `ulimit -f ${kib} && exec "$0" --no-warnings --input-type=module --eval "$1" "$2"`;
  const child = spawn('bash', ['-c', command, process.execPath, WRITER, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(said) as Told;
}

describe('a disk that fails in the middle of a COMMIT', () => {
  test('loses nothing that was promised, and the failure says that it is not sure', async () => {
    const { promised, failure, seen } = await runWithFileLimit(1024);
    expect(failure).toEqual({ code: 'LONGCALL_STORE_FAILED', written: 'unknown' });
    expect(seen).toBe(true);
    expect(promised.length).toBeGreaterThan(5);
    const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
    expect((await store.check()).ok).toBe(true);
    for (const id of promised) expect(await store.tasks.get(ALICE, id), id).toBeDefined();
    await store.close();
  });
});
