import { setMaxListeners } from 'node:events';
import type { RunAttempt, Slot } from '../engine/engine.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Task, TaskRequest } from '../protocol/model.ts';
import type { Attempt, ClaimedAttempt } from '../stores/attempts.ts';
import { playAttempt, type AttemptHistory } from './attempt-run.ts';
import { nameContent } from './artifacts/named-content.ts';
import type { Core } from './core.ts';
import { budgetsOf, type CallBudgets } from './limits.ts';
import { isAnonymousTask } from './name-in-logs.ts';
import {
  artifactUnreadable,
  CANCELLED,
  notAuthorized,
  outcomeUnknown,
  queueLimitExceeded,
  requestUnreadable,
  runLimitExceeded,
  toolGone,
} from './outcomes.ts';
import type { Settlement } from './settler.ts';
import { stop } from './stop.ts';
import type { ServedTool } from './tool.ts';

/** What all attempts of a task together have done, but for what they have asked. */
export function historyOf(attempts: readonly Attempt[]): Omit<AttemptHistory, 'askedMs'> {
  const observed = attempts.findLast((attempt) => attempt.upstreamTask !== undefined)?.upstreamTask;
  const dispatched = attempts.some((attempt) => attempt.dispatchedAt !== undefined);
  const ranMs = attempts.reduce((sum, attempt) => sum + (attempt.ranMs ?? 0), 0);
  return { dispatched, ranMs, ...(observed ? { upstreamTask: observed } : {}) };
}

/** The runner that the engine delivers attempts to. */
export function createRunAttempt(core: Core): RunAttempt {
  return async (claimed, slot) => {
    const stopper = new AbortController();
    setMaxListeners(0, stopper.signal); // every open question listens
    const ended = createDeferred<void>();
    const leave = core.runs.enter({
      taskId: claimed.task.id,
      stop: (reason) => stop(stopper, reason),
      ended: ended.promise,
    });
    try {
      await runClaimed(core, { claimed, slot, stopper });
    } catch (thrown) {
      core.logger.error('attempt.failed', {
        attempt: claimed.attempt.id,
        problem: messageOf(thrown),
      });
      core.strays.add(claimed.task.id);
    } finally {
      leave();
      ended.resolve();
    }
  };
}

interface Claim {
  readonly claimed: ClaimedAttempt;
  readonly slot: Slot;
  readonly stopper: AbortController;
}

async function runClaimed(core: Core, { claimed, slot, stopper }: Claim): Promise<void> {
  const { attempt, request } = claimed;
  // The run can be told to stop from here on; what was decided before that stands in the record.
  const task = await core.store.tasks.get('system', claimed.task.id);
  if (!task || task.phase === 'ended') return;
  const history = await readHistory(core, attempt);
  const tool = core.toolOf(task);
  const served = tool !== undefined && isServed(tool, history);
  const readable = request !== undefined;
  const authorized = await isAuthorized(core, task, { attempt, history });
  const budgets = tool && budgetsOf(tool, isAnonymousTask(task), core.limits);
  const candidate = { task, attempt, history, served, readable, authorized, budgets };
  const refusal = refusalOf(core, candidate);
  if (refusal || !tool || !budgets || !readable) {
    const fence = { taskId: task.id, attemptId: attempt.id, epoch: attempt.epoch };
    if (refusal) await core.settler.insist({ ...refusal, fence }, core.closing);
    return;
  }
  const named = await nameArguments(core, { task, tool, request, history });
  if (named.kind === 'settle') {
    const fence = { taskId: task.id, attemptId: attempt.id, epoch: attempt.epoch };
    await core.settler.insist({ ...named.settlement, fence }, core.closing);
    return;
  }
  await playAttempt({
    core,
    claimed: { ...claimed, request: named.request },
    slot,
    stopper,
    task,
    tool,
    budgets,
    history,
  });
}

async function readHistory({ store }: Core, { taskId, number }: Attempt): Promise<AttemptHistory> {
  if (number === 1) return { dispatched: false, ranMs: 0, askedMs: 0 };
  const [attempts, askedMs] = await Promise.all([
    store.attempts.listOf(taskId),
    store.inputs.openTimeMs(taskId),
  ]);
  return { ...historyOf(attempts), askedMs };
}

interface Naming {
  readonly task: Task;
  readonly tool: ServedTool;
  readonly request: TaskRequest;
  readonly history: AttemptHistory;
}

type Named =
  | { readonly kind: 'request'; readonly request: TaskRequest }
  | { readonly kind: 'settle'; readonly settlement: Settlement };

/** The request with the content of the artifacts that it names; a run that only observes needs none of it. */
async function nameArguments(
  { keeper, limits }: Core,
  { task, tool, request, history }: Naming,
): Promise<Named> {
  if (tool.artifactArguments === undefined || history.upstreamTask)
    return { kind: 'request', request };
  const { outcomeBytesMax: bytesMax } = limits;
  const named = await nameContent({ keeper, task, tool, arguments: request.arguments, bytesMax });
  if (named.kind === 'arguments')
    return { kind: 'request', request: { ...request, arguments: named.arguments } };
  const isSent = history.dispatched && task.operationId !== undefined;
  const outcome = isSent
    ? outcomeUnknown(task.operationId)
    : artifactUnreadable(named.argument, named.problem);
  const reason = 'artifact_unreadable';
  return { kind: 'settle', settlement: { taskId: task.id, outcome, callEnd: 'lost', reason } };
}

/** The first attempt was authorized with its call; what the upstream does on its own account is watched in any case. */
async function isAuthorized(
  { mayResume }: Core,
  task: Task,
  { attempt, history }: Pick<Candidate, 'attempt' | 'history'>,
): Promise<boolean> {
  return attempt.number === 1 || history.upstreamTask !== undefined || mayResume(task);
}

/** A tool that policy refuses by now is not called any more; what it does at its upstream is still watched. */
const isServed = ({ mode }: ServedTool, { upstreamTask }: AttemptHistory): boolean =>
  mode !== 'refuse' || upstreamTask !== undefined;

interface Candidate {
  readonly task: Task;
  readonly attempt: Attempt;
  readonly history: AttemptHistory;
  readonly served: boolean;
  readonly readable: boolean;
  readonly authorized: boolean;
  readonly budgets: CallBudgets | undefined;
}

/** Why an attempt is ended without running, if it is. */
function refusalOf(
  core: Core,
  { task, attempt, history, served, readable, authorized, budgets }: Candidate,
): Settlement | undefined {
  const { queueAllowanceMs } = core.limits;
  const taskId = task.id;
  if (task.cancelRequestedAt !== undefined && !history.upstreamTask)
    return { taskId, outcome: CANCELLED, callEnd: 'cancelled', reason: 'cancelled' };
  if (!served) {
    const sent = history.dispatched && task.operationId !== undefined;
    const outcome = sent ? outcomeUnknown(task.operationId) : toolGone(task.tool);
    return { taskId, outcome, callEnd: 'lost', reason: 'tool_gone' };
  }
  if (!authorized) {
    const sent = history.dispatched && task.operationId !== undefined;
    const outcome = sent ? outcomeUnknown(task.operationId) : notAuthorized(task.tool);
    return { taskId, outcome, callEnd: 'lost', reason: 'not_authorized' };
  }
  if (!readable) {
    const sent = history.dispatched && task.operationId !== undefined;
    const outcome = sent ? outcomeUnknown(task.operationId) : requestUnreadable();
    return { taskId, outcome, callEnd: 'lost', reason: 'request_unreadable' };
  }
  if (budgets && history.ranMs >= budgets.runLimitMs && !history.upstreamTask) {
    const sentOperationId = history.dispatched ? task.operationId : undefined;
    const outcome = runLimitExceeded(budgets.runLimitMs, sentOperationId);
    return { taskId, outcome, callEnd: 'run_limit', reason: 'run_limit' };
  }
  if (attempt.number === 1 && core.store.now() - task.createdAt > queueAllowanceMs)
    return {
      taskId,
      outcome: queueLimitExceeded(queueAllowanceMs),
      callEnd: 'lost',
      reason: 'queue_limit',
    };
  return undefined;
}
