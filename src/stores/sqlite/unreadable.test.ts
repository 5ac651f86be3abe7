import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { BOOT, draftTask, givenTask, LEASE_MS, settlement } from '../contract/given.ts';
import { ALICE, BOB } from '../contract/people.ts';
import type { Store } from '../store.ts';
import { createSqliteStore } from './store.ts';

let directory = '';
let path = '';
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-unreadable-'));
  path = join(directory, 'longcall.db');
  store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Damages what is stored, as a bad disk or another program would. */
function damage(sql: string, taskId: string): void {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA foreign_keys = OFF');
  db.prepare(sql).run(taskId);
  db.close();
}

const OF_TASK = 'WHERE seq = (SELECT seq FROM tasks WHERE id = ?)';
const DAMAGES: readonly (readonly [what: string, sql: string])[] = [
  ['arguments that are no JSON', `UPDATE task_requests SET arguments = '{"a":' ${OF_TASK}`],
  ['arguments that are no object', `UPDATE task_requests SET arguments = '7' ${OF_TASK}`],
  ['a progress token that is none', `UPDATE task_requests SET progress_token = 'null' ${OF_TASK}`],
  ['a request that is gone', `DELETE FROM task_requests ${OF_TASK}`],
];

const claim = () =>
  store.attempts.claim({ owner: BOOT, leaseMs: LEASE_MS, limit: 10, runningPerTool: {} });

test.each(DAMAGES)('%s keeps nobody else from being claimed', async (_what, sql) => {
  const broken = await givenTask(store);
  const beside = draftTask({ by: BOB });
  await store.tasks.create(beside);
  damage(sql, broken.id);
  const claimed = await claim();
  expect(claimed.map(({ task, request }) => [task.id, request])).toEqual([
    [broken.id, undefined],
    [beside.task.id, beside.request],
  ]);
});

test('who was given one without a request can end its task', async () => {
  const broken = await givenTask(store);
  damage(`UPDATE task_requests SET arguments = '' ${OF_TASK}`, broken.id);
  const [claimed] = await claim();
  const { id: attemptId = '', epoch = 0 } = claimed?.attempt ?? {};
  const fence = { taskId: broken.id, attemptId, epoch };
  const lost = settlement(broken.id, { fence, callEnd: 'lost', reason: 'request_unreadable' });
  expect(await store.tasks.settle(lost)).toMatchObject({ kind: 'settled' });
  expect(await store.operations.get(ALICE, broken.operationId ?? '')).toMatchObject({
    state: 'abandoned',
    reason: 'request_unreadable',
  });
  expect(await claim()).toEqual([]);
});
