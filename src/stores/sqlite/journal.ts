import { invariant } from '../../kernel/invariant.ts';
import type { Json } from '../../kernel/json.ts';
import type { Task } from '../../protocol/model.ts';
import type { Fence } from '../attempts.ts';
import { beginsWork, RECEIPT_BYTES_MAX } from '../journal.ts';
import type { Journalled, JournalFact, JournalStore, NewEffect, Receipt } from '../journal.ts';
import type { Session, Tables } from './session.ts';
import { taskEvent } from './settlement.ts';

export function createJournalStore({ commit, tables }: Session): JournalStore {
  const { journal } = tables;
  return {
    append: (fence, facts) => commit.write((now) => append(tables, now, { fence, facts })),
    read: (taskId) => commit.read(() => journal.read(taskId)),
    dispatchEffect: (fence, effect, fact) =>
      commit.write((now) => dispatchEffect(tables, now, { fence, effect, fact })),
    recordReceipt: (receipt) => commit.write((now) => recordReceipt(tables, now, receipt)),
    consumeAnswer: (fence, key, fact) =>
      commit.write(() => consumeAnswer(tables, { fence, key, fact })),
  };
}

/** Whether these facts may be written now, and by whom: an ended task has no attempt that holds anything. */
function mayWrite(tables: Tables, fence: Fence, facts: readonly JournalFact[]): Journalled {
  if (tables.attempts.held(fence) === undefined) return 'fenced';
  return tables.journal.fits(fence.taskId, facts) ? 'written' : 'conflict';
}

interface Appending {
  readonly fence: Fence;
  readonly facts: readonly JournalFact[];
}

function append(tables: Tables, now: number, { fence, facts }: Appending): Journalled {
  const may = mayWrite(tables, fence, facts);
  if (may !== 'written') return may;
  if (facts.some(beginsWork) && !beginCall(tables, now, fence)) return 'fenced';
  tables.journal.append(fence.taskId, facts);
  return 'written';
}

/** The call of a tool that is no read counts as sent when its first step begins: "nothing happened" is not certain any more. */
function beginCall(tables: Tables, now: number, fence: Fence): boolean {
  const task = taskOf(tables, fence);
  if (task.operationId === undefined) return true;
  if (!tables.operations.beginCall(now, task.operationId)) return false;
  markSent(tables, now, { fence, task });
  return true;
}

interface Sending {
  readonly fence: Fence;
  readonly task: Task;
}

function markSent({ attempts, events }: Tables, now: number, { fence, task }: Sending): void {
  if (attempts.markDispatched(fence, now))
    events.append(now, taskEvent('task.dispatched', { task }));
}

function taskOf({ tasks }: Tables, { taskId }: Fence): Task {
  const task = tasks.find(taskId);
  invariant(task !== undefined, 'an attempt has a task');
  return task;
}

interface Dispatching {
  readonly fence: Fence;
  readonly effect: NewEffect;
  readonly fact: JournalFact;
}

/**
 * The call has sent something when one of its effects has: its own operation and the attempt say so too. Where the
 * ledger does not let the call's operation be dispatched, the answer is that of a passed fence, and nothing is sent.
 */
function dispatchEffect(
  tables: Tables,
  now: number,
  { fence, effect, fact }: Dispatching,
): Journalled {
  invariant(
    fact.type === 'begun' && fact.kind === 'effect' && fact.operationId === effect.id,
    'the fact of an effect names its operation',
  );
  const may = mayWrite(tables, fence, [fact]);
  if (may !== 'written') return may;
  const task = taskOf(tables, fence);
  invariant(task.operationId === effect.parentId, 'an effect belongs to the operation of its call');
  const { operations, effects } = tables;
  const isTaken = effects.isNamed(effect.parentId, effect.name);
  if (isTaken || operations.find(effect.id) !== undefined) return 'conflict';
  if (!operations.dispatchCall(now, effect.parentId)) return 'fenced';
  markSent(tables, now, { fence, task });
  effects.insert(now, { task, effect });
  tables.journal.append(task.id, [fact]);
  return 'written';
}

function recordReceipt(tables: Tables, now: number, params: Receipt) {
  const { operationId, end, reason, journal } = params;
  const receipt = boundedText(params.receipt);
  const operation = tables.effects.takeReceipt(now, operationId, { end, reason, receipt });
  const journalled =
    journal !== undefined &&
    append(tables, now, { fence: journal.fence, facts: [journal.fact] }) === 'written';
  return operation === undefined ? { journalled } : { operation, journalled };
}

/** Evidence is not refused for its size: a proof that is too large to keep leaves its word about the end. */
function boundedText(receipt: Json | undefined): string | undefined {
  const text = receipt === undefined ? undefined : JSON.stringify(receipt);
  const fits = text !== undefined && Buffer.byteLength(text) <= RECEIPT_BYTES_MAX;
  return fits ? text : undefined;
}

interface Consuming {
  readonly fence: Fence;
  readonly key: string;
  readonly fact: JournalFact;
}

/** An answer that is not there any more was consumed before, by a run that disagrees with this one. */
function consumeAnswer(tables: Tables, { fence, key, fact }: Consuming): Journalled {
  const may = mayWrite(tables, fence, [fact]);
  if (may !== 'written') return may;
  if (!tables.inputs.eraseAnswer(fence.taskId, key)) return 'conflict';
  tables.journal.append(fence.taskId, [fact]);
  return 'written';
}
