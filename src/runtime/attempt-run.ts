import type { Slot } from '../engine/engine.ts';
import { crashPoint } from '../kernel/crash-point.ts';
import { messageOf } from '../kernel/logger.ts';
import { safeText } from '../kernel/text.ts';
import type { Task } from '../protocol/model.ts';
import type { RunnableAttempt, Fence, UpstreamTask } from '../stores/attempts.ts';
import { createAsk } from './asking.ts';
import { conclude, handlerEndOf, type HandlerEnd } from './conclusion.ts';
import type { Core } from './core.ts';
import { createJobJournal } from './job-journal.ts';
import type { Job } from './job.ts';
import { keepLease } from './lease.ts';
import type { CallBudgets } from './limits.ts';
import { createPulse, type Pulse } from './pulse.ts';
import { createRunJob, type RunState } from './run-job.ts';
import { createStatusWriter, type StatusWriter } from './status-writer.ts';
import { graceOver, stop, stopReasonOf } from './stop.ts';
import { createTimeBudget } from './time-budget.ts';
import type { ServedTool } from './tool.ts';

/** What earlier attempts of the same task have left behind. */
export interface AttemptHistory {
  /** Whether anything was sent before this attempt. */
  readonly dispatched: boolean;
  readonly upstreamTask?: UpstreamTask;
  /** How long they have run without their waits, in ms: the run limit counts over all of them. */
  readonly ranMs: number;
  /** How long a question was open in all, in ms. */
  readonly askedMs: number;
}

export interface RunOptions {
  readonly core: Core;
  readonly claimed: RunnableAttempt;
  readonly slot: Slot;
  /** Tells the run to stop; aborted with a StopReason. */
  readonly stopper: AbortController;
  readonly task: Task;
  readonly tool: ServedTool;
  readonly budgets: CallBudgets;
  readonly history: AttemptHistory;
}

/** An attempt while it runs. */
interface Run extends RunOptions {
  readonly fence: Fence;
  readonly state: RunState;
  readonly pulse: Pulse;
}

/** Plays one attempt to its end: the handler beside its limits, then one settlement. */
export async function playAttempt(options: RunOptions): Promise<void> {
  const { core, claimed, stopper, history } = options;
  const { id: attemptId, taskId, epoch } = claimed.attempt;
  const state: RunState = { sent: history.dispatched, over: false, parked: false };
  const pulse = createPulse();
  const run: Run = { ...options, fence: { taskId, attemptId, epoch }, state, pulse };
  const { job, ranMs, endLimits } = equip(run);
  const lease = keepLease({ ...run, ranMs, onLook: pulse.beat });

  const handler = invoke(core, job);
  // A cancel from before this attempt: with its task journalled, the upstream has to hear of it.
  if (options.task.cancelRequestedAt !== undefined) stop(stopper, 'cancelled');
  const hung = graceOver(core.clock, core.limits.stopGraceMs, stopper.signal);
  const end = await Promise.race([handler, hung.then((): HandlerEnd => ({ kind: 'hung' }))]);

  state.over = true;
  endLimits();
  lease.release();
  if (state.parked) return core.waking.afterParking();
  await settleRun(run, end);
  if (end.kind === 'hung') void handler.then((late) => addLateEvidence(run, late));
}

interface Equipment {
  readonly job: Job;
  /** How long this attempt has run, without its waits. */
  readonly ranMs: () => number;
  readonly endLimits: () => void;
}

/** The handler's job, with the clocks that run beside it. */
function equip(run: Run): Equipment {
  const { core, task, fence, stopper, budgets, history } = run;
  const runMs = Math.max(0, budgets.runLimitMs - history.ranMs);
  const runBudget = createTimeBudget(core.clock, runMs, () => stop(stopper, 'run_limit'));
  const inputMs = Math.max(0, budgets.inputAllowanceMs - history.askedMs);
  const inputBudget = createTimeBudget(core.clock, inputMs, () => undefined);
  inputBudget.pause();
  const status = createStatus(core, fence);
  const signal = stopper.signal;
  const clocks = { runBudget, inputBudget, inputExpiryMs: budgets.inputExpiryMs };
  const ask = createAsk({ ...run, ...clocks, stopped: signal, flushStatus: status.flush });
  const onFenced = (): Promise<void> => hearFenced(run);
  const journal = createJobJournal({ ...run, runBudget, onFenced, flushStatus: status.flush });
  const { upstreamTask } = history;
  const { claimed, tool, state } = run;
  const deadline = Math.round(core.store.now() + runMs);
  const parts = { core, claimed, task, tool, fence, upstreamTask, signal, deadline, journal };
  const unlisten = core.announcer.feed.watch(task.id, ({ kind }) => {
    if (kind === 'closed') run.pulse.beat();
  });
  return {
    job: createRunJob({ ...parts, ask, setStatus: status.set }, state),
    ranMs: () => Math.round(runBudget.spentMs()),
    endLimits() {
      unlisten();
      runBudget.end();
      inputBudget.end();
      status.end();
    },
  };
}

/** The store has refused its fence: why, the record says, or its next attempt will. */
async function hearFenced({ core, task, stopper }: Run): Promise<void> {
  const now = await core.store.tasks.get('system', task.id);
  stop(stopper, now?.ending === 'cancelled' ? 'cancelled' : 'lease_lost');
}

function createStatus(
  { store, announcer, clock, limits, logger }: Core,
  fence: Fence,
): StatusWriter {
  const write = async (message: string): Promise<void> => {
    try {
      const written = await store.tasks.setMessage(fence, message);
      if (written) announcer.changed(written);
    } catch (thrown) {
      const problem = messageOf(thrown);
      logger.warn('task.message_failed', { attempt: fence.attemptId, problem });
    }
  };
  return createStatusWriter({ clock, everyMs: limits.statusEveryMs, write });
}

/** Calls the handler; whatever it does, there is an end. */
async function invoke(core: Core, job: Job): Promise<HandlerEnd> {
  try {
    return handlerEndOf(await core.run(job));
  } catch (thrown) {
    return { kind: 'threw', thrown };
  }
}

async function settleRun(run: Run, end: HandlerEnd): Promise<void> {
  const { core, task, fence, state } = run;
  const stopReason = stopReasonOf(run.stopper.signal);
  const conclusion = conclude({
    handler: end,
    runLimitMs: run.budgets.runLimitMs,
    ...(stopReason === undefined ? {} : { stop: stopReason }),
    ...(state.sent && task.operationId !== undefined ? { sentOperationId: task.operationId } : {}),
  });
  if (end.kind === 'returned') crashPoint('after-upstream-answer');
  if (end.kind === 'threw') {
    const problem = safeText(messageOf(end.thrown));
    core.logger.warn('attempt.handler_threw', { attempt: fence.attemptId, problem });
  }
  if (conclusion.kind === 'settle') {
    const { outcome, callEnd, reason } = conclusion;
    await core.settler.insist({ taskId: task.id, outcome, callEnd, reason, fence }, core.closing);
    return;
  }
  if (stopReason === 'lease_lost') core.strays.add(task.id);
  if (conclusion.evidence) await addLateEvidence(run, end);
}

/** An answer that came too late for the task still tells the ledger something (decision 15). */
async function addLateEvidence({ core, task, fence, state }: Run, end: HandlerEnd): Promise<void> {
  const { operationId } = task;
  if (end.kind !== 'returned' || !state.sent || operationId === undefined) return;
  try {
    const evidence = { operationId, end: end.end.end, reason: 'late_answer' };
    await core.store.operations.addEvidence(evidence);
  } catch (thrown) {
    const problem = messageOf(thrown);
    core.logger.error('operation.evidence_failed', { attempt: fence.attemptId, problem });
  }
}
