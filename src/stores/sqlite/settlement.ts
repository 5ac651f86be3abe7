import type { CallEnd } from '../../ledger/operation.ts';
import type { Task } from '../../protocol/model.ts';
import type { SettleObstacle, SettleTask, SettledTask } from '../tasks.ts';
import type { Tables } from './session.ts';
import { isVisible } from './visibility.ts';

/**
 * The one way a task ends (decision 15): outcome, attempt, questions, operation and event in one transaction. The
 * first terminal write wins. What comes late, or from an attempt that was fenced out, goes to the operation as
 * evidence and never to the task.
 */
export function settleTask(tables: Tables, now: number, params: SettleTask): SettledTask {
  const task = tables.tasks.find(params.taskId);
  if (task === undefined || !isVisible(task, 'system', now)) {
    learnAboutSwept(tables, now, params);
    return { kind: 'missing' };
  }
  const fencedOut = params.fence !== undefined && tables.attempts.held(params.fence) === undefined;
  if (task.phase !== 'ended' && !fencedOut) {
    const because = params.unless?.find((obstacle) => OBSTACLES[obstacle](tables, task));
    if (because !== undefined) return { kind: 'kept', task, because };
    return { kind: 'settled', task: endTask(tables, now, { task, params }) };
  }
  learnLate(tables, now, { task, params });
  return { kind: 'late', task };
}

/** Whether the fact holds that keeps a task from being ended. */
const OBSTACLES: Readonly<Record<SettleObstacle, (tables: Tables, task: Task) => boolean>> = {
  dispatched: ({ attempts }, { id }) =>
    attempts.listOf(id).some(({ dispatchedAt }) => dispatchedAt !== undefined),
  given: (_tables, { handle }) => handle === 'given',
};

interface Settling {
  readonly task: Task;
  readonly params: SettleTask;
}

function endTask(tables: Tables, now: number, { task, params }: Settling): Task {
  const { outcome, message, callEnd: end, reason } = params;
  const ended = tables.tasks.end(now, task.id, { outcome, message }) ?? task;
  tables.attempts.end(now, task.id, reason);
  tables.inputs.closeAll(now, task.id);
  if (task.operationId !== undefined) {
    tables.effects.endWithoutReceipt(now, task.operationId);
    tables.operations.settle(now, task.operationId, { end, reason });
  }
  tables.events.append(now, taskEvent('task.settled', { task, reason }));
  return ended;
}

function learnLate(tables: Tables, now: number, { task, params }: Settling): void {
  const reason = `late_${LATE_WORDS[params.callEnd]}`;
  if (task.operationId !== undefined && isNews(tables, { task, params })) {
    tables.operations.learn(now, task.operationId, { end: params.callEnd, reason });
  }
  tables.events.append(now, taskEvent('task.late_outcome', { task, reason }));
}

/**
 * An answer always says something. Anything else does not while somebody else may be at work: another attempt of an
 * open task, or the task that has the operation now.
 */
function isNews({ operations }: Tables, { task, params }: Settling): boolean {
  if (params.callEnd === 'answered') return true;
  return task.phase === 'ended' && operations.find(task.operationId ?? '')?.taskId === task.id;
}

/** The record is gone, the operation is not: what happened is still worth knowing (S11). */
function learnAboutSwept(tables: Tables, now: number, { taskId, callEnd }: SettleTask): void {
  const operation = tables.operations.findAwaited(taskId);
  if (operation === undefined) return;
  const reason = `late_${LATE_WORDS[callEnd]}`;
  tables.operations.learn(now, operation.id, { end: callEnd, reason });
  const { id: operationId, tenant } = operation;
  const type = 'task.late_outcome';
  tables.events.append(now, { type, tenant, actor: 'system', taskId, operationId, reason });
}

const LATE_WORDS = {
  answered: 'answer',
  tool_error: 'tool_error',
  error: 'error',
  lost: 'loss',
  cancelled: 'cancel',
  run_limit: 'run_limit',
} as const satisfies Record<CallEnd, string>;

interface TaskHappening {
  readonly task: Task;
  readonly actor?: string;
  readonly reason?: string;
}

/** An event about a task, by the machine unless an actor is named. */
export function taskEvent(type: string, { task, actor = 'system', reason }: TaskHappening) {
  return {
    type,
    tenant: task.tenant,
    actor,
    taskId: task.id,
    ...(task.operationId === undefined ? {} : { operationId: task.operationId }),
    ...(reason === undefined ? {} : { reason }),
  };
}
