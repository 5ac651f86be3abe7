import { hasNotHappened, holdsRepeats, type Operation } from '../../ledger/operation.ts';
import type { Task } from '../../protocol/model.ts';
import type { CreatedTask, CreateTask } from '../tasks.ts';
import type { Tables } from './session.ts';
import { isVisible } from './visibility.ts';

/** What is known of a call before it is made. */
export type Earlier =
  /** It was not made before, or what was has no say any more. */
  | { readonly kind: 'new' }
  /** It was made, and it is known that nothing happened: the same operation gets a new task. */
  | { readonly kind: 'again'; readonly operation: Operation }
  | Extract<CreatedTask, { readonly kind: 'existing' | 'conflict' }>;

const NEW: Earlier = { kind: 'new' };

/** Looks for the call that this one repeats: by its key, where it has one, else by its arguments (decision 4). */
export function earlierCall(tables: Tables, now: number, params: CreateTask): Earlier {
  return params.claim === undefined ? byGuard(tables, now, params) : byKey(tables, now, params);
}

function byKey(tables: Tables, now: number, { task, claim }: CreateTask): Earlier {
  const found = claim && tables.claims.find(claim.keyHash);
  if (!claim || !found) return NEW;
  const isSame = found.fingerprint === claim.fingerprint;
  const { operationId } = found;
  if (operationId !== undefined) {
    if (!isSame) return { kind: 'conflict', operationId };
    const operation = tables.operations.find(operationId);
    return operation ? ofOperation(tables, now, { by: 'key', operation }) : NEW;
  }
  const read = visible(tables, now, { taskId: found.taskId ?? '', of: task });
  if (!read) return NEW;
  return isSame ? ofRead(read) : { kind: 'conflict' };
}

/** Whether it ended without its tool's own word: cancelled, lost, refused on the way. */
const isUnanswered = ({ phase, ending }: Task): boolean =>
  phase === 'ended' && ending !== 'result' && ending !== 'tool_error';

/** A read that ended without its tool's answer is done again: it is what the repeat is for, and does no harm. */
const ofRead = (task: Task): Earlier =>
  isUnanswered(task) ? NEW : { kind: 'existing', by: 'key', task };

function byGuard(tables: Tables, now: number, { task, guard }: CreateTask): Earlier {
  if (!guard) return NEW;
  const { tenant, owner } = task;
  const operation = tables.repeats.latest({ tenant, owner, fingerprint: guard.fingerprint });
  if (!operation || !holdsRepeats(operation, now, guard.afterDeliveryMs)) return NEW;
  return ofOperation(tables, now, { by: 'guard', operation });
}

interface FoundOperation {
  readonly by: 'key' | 'guard';
  readonly operation: Operation;
}

function ofOperation(tables: Tables, now: number, { by, operation }: FoundOperation): Earlier {
  const stored = tables.tasks.find(operation.taskId);
  const task = visible(tables, now, { taskId: operation.taskId, of: operation });
  // Whoever is still at work may come to an effect, and what its tool answered without one is its answer.
  const isAtWork = stored !== undefined && stored.phase !== 'ended';
  const isAnswered = task !== undefined && !isUnanswered(task);
  if (hasNotHappened(operation) && !isAtWork && !isAnswered) return { kind: 'again', operation };
  return { kind: 'existing', by, operation, ...(task ? { task } : {}) };
}

interface Sought {
  readonly taskId: string;
  readonly of: Pick<Task, 'owner' | 'tenant'>;
}

function visible(tables: Tables, now: number, { taskId, of }: Sought): Task | undefined {
  const task = tables.tasks.find(taskId);
  return task && isVisible(task, { owner: of.owner, tenant: of.tenant }, now) ? task : undefined;
}
