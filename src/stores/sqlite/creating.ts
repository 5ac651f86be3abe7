import { invariant } from '../../kernel/invariant.ts';
import type { Operation } from '../../ledger/operation.ts';
import type { Task } from '../../protocol/model.ts';
import type { CreateTask, CreatedTask, NewOperation } from '../tasks.ts';
import { earlierCall, type Earlier } from './earlier-calls.ts';
import type { OpenCounts } from './open-counts.ts';
import type { Tables } from './session.ts';
import { taskEvent } from './settlement.ts';

export interface Creating {
  readonly tables: Tables;
  readonly counts: OpenCounts;
}

/**
 * One create, in the order that decides: a call that was made before is answered also where nothing new would be let
 * in, and a create that is refused leaves no claim (decision 4).
 */
export function createTask(
  { tables, counts }: Creating,
  now: number,
  params: CreateTask,
): CreatedTask {
  const earlier = earlierCall(tables, now, params);
  if (earlier.kind === 'existing' || earlier.kind === 'conflict') return earlier;
  const reached = counts.reached(params);
  if (reached !== undefined) return { kind: 'full', ...reached };
  const task = insertTask(tables, now, { params, earlier });
  if (params.claim) takeClaim(tables, params.claim, task);
  return { kind: 'created', task };
}

interface Inserting {
  readonly params: CreateTask;
  readonly earlier: Exclude<Earlier, CreatedTask>;
}

function insertTask(tables: Tables, now: number, { params, earlier }: Inserting): Task {
  const { operation, attemptId } = params;
  invariant(
    params.task.operationId === operation?.id,
    'a task names the operation created with it',
  );
  const kept = operation && earlier.kind === 'again' ? earlier.operation : undefined;
  const named = kept ? { ...params.task, operationId: kept.id } : params.task;
  const task = tables.tasks.insert(now, named, params.request);
  if (kept) handOperation(tables, now, { task, earlier: kept });
  else if (operation) insertOperation(tables, task, operation);
  tables.attempts.enqueueFirst(task, attemptId);
  tables.events.append(now, taskEvent('task.created', { task, actor: task.owner }));
  return task;
}

function insertOperation(tables: Tables, task: Task, operation: NewOperation): void {
  const { id, effect, argumentsDigest } = operation;
  invariant(effect === task.effect, 'an operation has the effect of its task');
  tables.operations.insert({
    id,
    owner: task.owner,
    tenant: task.tenant,
    upstream: task.upstream,
    tool: task.tool,
    effect,
    state: 'intended',
    argumentsDigest,
    taskId: task.id,
    createdAt: task.createdAt,
    updatedAt: task.createdAt,
  });
}

interface Handing {
  readonly task: Task;
  readonly earlier: Operation;
}

function handOperation(tables: Tables, now: number, { task, earlier }: Handing): void {
  const handed = tables.repeats.hand(now, earlier.id, task.id);
  invariant(handed !== undefined, 'an operation is where it was read in this transaction');
  if (handed.state === earlier.state) return;
  const reason = `${earlier.state}->${handed.state}`;
  tables.events.append(now, taskEvent('operation.moved', { task, reason }));
}

function takeClaim(tables: Tables, claim: NonNullable<CreateTask['claim']>, task: Task): void {
  if (task.operationId === undefined) tables.claims.takeForTask(claim, task.id);
  else tables.claims.takeForOperation(claim, task.operationId);
}
