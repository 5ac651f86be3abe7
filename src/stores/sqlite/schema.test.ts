import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { systemRandom } from '../../kernel/random.ts';
import { draftTask, RESULT } from '../contract/given.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.generated.ts';
import { createTables } from './session.ts';
import type { Tables } from './session.ts';

let db = new DatabaseSync(':memory:');
let tables: Tables;
const draft = draftTask({ id: 'tsk_a' });
const ended = draftTask({ id: 'tsk_ended' });

/** One task that waits, with its operation and a question, and one that has ended. */
beforeEach(() => {
  db = new DatabaseSync(':memory:');
  migrate(db, MIGRATIONS, 0);
  tables = createTables(db, systemRandom);
  const task = tables.tasks.insert(5, draft.task, draft.request);
  tables.attempts.enqueueFirst(task, 'att_a');
  const question = { key: 'one', method: 'roots/list', params: {}, openMs: 10 } as const;
  tables.inputs.insert(5, task.id, question);
  tables.inputs.insert(5, task.id, { ...question, key: 'two' });
  const answer = { kind: 'result', result: {} } as const;
  tables.inputs.answer(5, task.id, { key: 'two', answer });
  tables.journal.append(task.id, [{ type: 'begun', position: 0, name: 'step', kind: 'step' }]);
  tables.operations.insert({
    id: 'op_a',
    owner: 'prn',
    tenant: 'north',
    upstream: 'u',
    tool: 't',
    effect: 'reversible',
    state: 'intended',
    argumentsDigest: 'd',
    taskId: 'tsk_a',
    createdAt: 5,
    updatedAt: 5,
  });
  tables.tasks.insert(5, ended.task, ended.request);
  tables.tasks.end(6, 'tsk_ended', { outcome: RESULT });
  tables.events.append(5, { type: 'x', tenant: 'north', actor: 'system' });
});

/** One more row of the journal. */
const fact = (values: string): string =>
  `INSERT INTO journal (task_seq, position, type, name, kind, ends, value)
   SELECT seq, ${values} FROM tasks WHERE id = 'tsk_a'`;

/** What no mistake of the code may write, table by table. */
const NONSENSE: readonly (readonly [why: string, sql: string])[] = [
  ['an end without an ending', `UPDATE tasks SET phase = 'ended' WHERE id = 'tsk_a'`],
  ['an ending without an end', `UPDATE tasks SET ending = 'result' WHERE id = 'tsk_a'`],
  ['an unknown phase', `UPDATE tasks SET phase = 'paused' WHERE id = 'tsk_a'`],
  [
    'a task that resumes after its end',
    `UPDATE tasks SET phase = 'working', ending = NULL WHERE id = 'tsk_ended'`,
  ],
  ['a second ending', `UPDATE tasks SET ending = 'cancelled' WHERE id = 'tsk_ended'`],
  ['an open task that is deleted', `DELETE FROM tasks WHERE id = 'tsk_a'`],
  ['an update before the creation', `UPDATE tasks SET updated_at = 4 WHERE id = 'tsk_a'`],
  ['a read with an operation', `UPDATE tasks SET effect = 'read' WHERE id = 'tsk_a'`],
  ['a task of nobody', `UPDATE tasks SET owner = '' WHERE id = 'tsk_a'`],
  [
    'a second outcome',
    `INSERT INTO task_outcomes SELECT seq, 1, '{}' FROM tasks WHERE id = 'tsk_ended'`,
  ],
  ['an outcome of nothing', `INSERT INTO task_outcomes VALUES (99, 1, '{}')`],
  ['a run without a lease', `UPDATE attempts SET state = 'running', owner = 'boot'`],
  ['a run of nobody', `UPDATE attempts SET state = 'running', lease_until = 9`],
  ['an attempt that ends without a reason', `UPDATE attempts SET state = 'ended', ended_at = 9`],
  ['something sent before it ran', `UPDATE attempts SET dispatched_at = 9`],
  [
    'two attempts at once',
    `INSERT INTO attempts (id, task_seq, tool, slot, number, epoch, state)
     SELECT 'att_b', task_seq, tool, slot, 2, epoch, 'queued' FROM attempts`,
  ],
  ['a sleep that waits for nothing', `UPDATE attempts SET state = 'parked'`],
  ['a wake-up of who is awake', `UPDATE attempts SET wake_at = 9`],
  ['a second way to wait for answers', `UPDATE attempts SET wake_on_answers = 0`],
  [
    'something sent by who sleeps',
    `UPDATE attempts SET state = 'parked', wake_at = 9, dispatched_at = 9`,
  ],
  [
    'a sleeper beside another attempt',
    `INSERT INTO attempts (id, task_seq, tool, slot, number, epoch, state, wake_at)
     SELECT 'att_b', task_seq, tool, slot, 2, epoch, 'parked', 9 FROM attempts`,
  ],
  ['a page that confirms nothing', `UPDATE inputs SET state = 'confirming' WHERE key = 'one'`],
  ['one confirmation of two questions', `UPDATE inputs SET confirmation_hash = 'h'`],
  ['a question that is closed for no reason', `UPDATE inputs SET state = 'expired', closed_at = 9`],
  ['a reason to be closed and an answer', `UPDATE inputs SET closed_because = 'ended'`],
  ['an unknown reason to be closed', `UPDATE inputs SET closed_because = 'bored'`],
  ['a fact that changes', `UPDATE journal SET name = 'other'`],
  ['a second fact at one position', fact(`0, 'begun', 'x', 'step', NULL, NULL`)],
  [
    'a fact of nothing',
    `INSERT INTO journal (task_seq, position, type, name, kind) VALUES (99, 0, 'begun', 'x', 'step')`,
  ],
  ['a step without a name', fact(`1, 'begun', NULL, 'step', NULL, NULL`)],
  ['a fact of an unknown kind', fact(`1, 'begun', 'x', 'nap', NULL, NULL`)],
  ['a beginning with a value', fact(`1, 'begun', 'x', 'step', NULL, '1'`)],
  ['an end of nothing', fact(`1, 'ended', NULL, NULL, NULL, '1'`)],
  ['an end before its beginning', fact(`1, 'ended', NULL, NULL, 1, '1'`)],
  ['an end with a name', fact(`1, 'ended', 'x', NULL, 0, '1'`)],
  ['an effect without a name', `UPDATE operations SET parent_id = 'op_b'`],
  ['an effect of itself', `UPDATE operations SET parent_id = id, name = 'x'`],
  ['an open question with an answer', `UPDATE inputs SET answer = '{}' WHERE key = 'one'`],
  ['an answered question that is not closed', `UPDATE inputs SET state = 'answered'`],
  [
    'a key that is used again',
    `INSERT INTO inputs (task_seq, key, method, params, state, asked_at, expires_at)
     SELECT task_seq, key, method, params, state, asked_at, expires_at FROM inputs`,
  ],
  ['unknown, and never sent', `UPDATE operations SET state = 'unknown'`],
  ['abandoned, and sent', `UPDATE operations SET state = 'abandoned', dispatched_at = 9`],
  ['an unknown state of an operation', `UPDATE operations SET state = 'done'`],
  ['an event that changes', `UPDATE events SET actor = 'nobody'`],
  ['fewer than no open tasks', `UPDATE usage SET open = -1`],
  ['fewer bytes than none', `UPDATE usage SET bytes = -1`],
  ['a record that takes nothing', `UPDATE tasks SET kept_bytes = 0`],
  ['a claim of nothing', `INSERT INTO claims (key_hash, fingerprint) VALUES ('k', 'f')`],
  [
    'a claim of a call and of an effect at once',
    `INSERT INTO claims VALUES ('k', 'f', (SELECT min(seq) FROM tasks), (SELECT seq FROM operations))`,
  ],
];

describe('the schema refuses', () => {
  test.each(NONSENSE)('%s', (_why, sql) => {
    expect(() => db.exec(sql)).toThrow(/constraint|stays as it is|never/);
  });
});

describe('a row that breaks a promise all the same is not handed out', () => {
  const BROKEN: readonly (readonly [why: string, sql: string, read: () => unknown])[] = [
    ['a phase', `UPDATE tasks SET phase = 'paused'`, () => tables.tasks.find('tsk_a')],
    ['an ending', `UPDATE tasks SET ending = 'result'`, () => tables.tasks.find('tsk_a')],
    ['asks', `UPDATE tasks SET asks = '["money"]'`, () => tables.tasks.find('tsk_a')],
    ['a request', `UPDATE task_requests SET meta = '[]'`, () => tables.tasks.findRequest('tsk_a')],
    [
      'a form',
      `UPDATE task_outcomes SET envelope = 2`,
      () => tables.tasks.findOutcome('tsk_ended'),
    ],
    [
      'an outcome',
      `UPDATE task_outcomes SET body = '{}'`,
      () => tables.tasks.findOutcome('tsk_ended'),
    ],
    ['a lease', `UPDATE attempts SET state = 'running'`, () => tables.attempts.listOf('tsk_a')],
    [
      'a journal',
      `UPDATE attempts SET upstream_task = '{}'`,
      () => tables.attempts.listOf('tsk_a'),
    ],
    ['a question', `UPDATE inputs SET method = 'x'`, () => tables.inputs.listPending(5, 'tsk_a')],
    ['a policy', `UPDATE inputs SET policy = '{}'`, () => tables.inputs.find('tsk_a', 'one')],
    ['a fact', `UPDATE journal SET kind = 'nap'`, () => tables.journal.read('tsk_a')],
    [
      'an error of a fact',
      `UPDATE journal SET type = 'ended', ends = 0, error = '{}'`,
      () => tables.journal.read('tsk_a'),
    ],
    [
      'an answer',
      `UPDATE inputs SET answer = '{}'`,
      () => tables.inputs.findAnswer('tsk_a', 'two'),
    ],
    [
      'an operation',
      `UPDATE operations SET dispatched_at = 9`,
      () => tables.operations.find('op_a'),
    ],
  ];

  test.each(BROKEN)('%s', (_why, sql, read) => {
    expect(read()).toBeDefined();
    db.exec(
      'PRAGMA ignore_check_constraints = ON; DROP TRIGGER tasks_stay_ended; DROP TRIGGER journal_stays',
    );
    db.exec(sql);
    expect(read).toThrow('broken invariant');
  });
});
