import { setMaxListeners } from 'node:events';
import type { RunAttempt, Slot } from '../engine/engine.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Task } from '../protocol/model.ts';
import type { Attempt, ClaimedAttempt } from '../stores/attempts.ts';
import { playAttempt, type AttemptHistory } from './attempt-run.ts';
import type { Core } from './core.ts';
import { budgetsOf } from './limits.ts';
import { isAnonymousTask } from './name-in-logs.ts';
import { CANCELLED, outcomeUnknown, queueLimitExceeded, toolGone } from './outcomes.ts';
import type { Settlement } from './settler.ts';
import { stop } from './stop.ts';
import type { ServedTool } from './tool.ts';

/** What all attempts of a task together have done. */
export function historyOf(attempts: readonly Attempt[]): AttemptHistory {
  const observed = attempts.findLast((attempt) => attempt.upstreamTask !== undefined)?.upstreamTask;
  const dispatched = attempts.some((attempt) => attempt.dispatchedAt !== undefined);
  return { dispatched, ...(observed ? { upstreamTask: observed } : {}) };
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
  const { attempt } = claimed;
  // The run can be told to stop from here on; what was decided before that stands in the record.
  const task = await core.store.tasks.get('system', claimed.task.id);
  if (!task || task.phase === 'ended') return;
  const history =
    attempt.number === 1
      ? { dispatched: false }
      : historyOf(await core.store.attempts.listOf(task.id));
  const tool = core.toolOf(task);
  const served = tool !== undefined && isServed(tool, history);
  const refusal = refusalOf(core, { task, attempt, history, served });
  if (refusal || !tool) {
    const fence = { taskId: task.id, attemptId: attempt.id, epoch: attempt.epoch };
    if (refusal) await core.settler.insist({ ...refusal, fence }, core.closing);
    return;
  }
  const budgets = budgetsOf(tool, isAnonymousTask(task), core.limits);
  await playAttempt({ core, claimed, slot, stopper, task, tool, budgets, history });
}

/** A tool that policy refuses by now is not called any more; what it does at its upstream is still watched. */
const isServed = ({ mode }: ServedTool, { upstreamTask }: AttemptHistory): boolean =>
  mode !== 'refuse' || upstreamTask !== undefined;

interface Candidate {
  readonly task: Task;
  readonly attempt: Attempt;
  readonly history: AttemptHistory;
  readonly served: boolean;
}

/** Why an attempt is ended without running, if it is. */
function refusalOf(
  core: Core,
  { task, attempt, history, served }: Candidate,
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
  if (attempt.number === 1 && core.store.now() - task.createdAt > queueAllowanceMs)
    return {
      taskId,
      outcome: queueLimitExceeded(queueAllowanceMs),
      callEnd: 'lost',
      reason: 'queue_limit',
    };
  return undefined;
}
