import { newId } from '../kernel/ids.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Task } from '../protocol/model.ts';
import type { Attempt, Fence } from '../stores/attempts.ts';
import type { TaskPosition } from '../stores/tasks.ts';
import type { Core } from './core.ts';
import { CANCELLED, attemptsExhausted, effectUnknown, outcomeUnknown } from './outcomes.ts';
import type { SentEffect } from './recount.ts';
import { cutOffEffect } from './recovery-evidence.ts';
import { decideRecovery, stricterEffect, type RecoveryDecision } from './recovery-decision.ts';
import { historyOf } from './run-attempt.ts';
import type { Settlement } from './settler.ts';

/** What recovery has done, by decision; `kept`: still waiting in the queue, nothing was to be done. */
export type RecoveryReport = Readonly<Record<RecoveryDecision | 'kept' | 'failed', number>>;

const PAGE = 200;

type Tally = Record<keyof RecoveryReport, number>;

const emptyReport = (): Tally => ({
  observe: 0,
  again: 0,
  'settle-unknown': 0,
  'settle-cancelled': 0,
  'settle-exhausted': 0,
  kept: 0,
  failed: 0,
});
export const NOTHING_RECOVERED: RecoveryReport = emptyReport();

/** Whether its owner may hold the id, or can come to hold it: a call that was answered inline has no handle to give. */
const isHeld = ({ origin, handle }: Task): boolean =>
  handle === 'given' || (origin !== 'plain' && handle === 'pending');

export interface Recovery {
  /** Before the engine starts, once: every other process is known to be dead. */
  recoverAll(): Promise<RecoveryReport>;
  /** Attempts whose lease has passed, and runs of this process that came to no settlement. */
  recoverOrphans(): Promise<RecoveryReport>;
}

export function createRecovery(core: Core): Recovery {
  const { store, bootId, engine, strays, runs, logger } = core;

  /** One task that cannot be recovered must not keep the others from it. */
  const count = async (report: Tally, work: () => Promise<keyof RecoveryReport>) => {
    const what = await work().catch((thrown: unknown) => {
      logger.error('recovery.failed', { problem: messageOf(thrown) });
      return 'failed' as const;
    });
    report[what] += 1;
  };

  const recoverStray = async (taskId: string): Promise<keyof RecoveryReport> => {
    const [task, attempts] = await Promise.all([
      store.tasks.get('system', taskId),
      store.attempts.listOf(taskId),
    ]);
    const own = attempts.find((attempt) => attempt.state === 'running' && attempt.owner === bootId);
    const what = task && own && !runs.of(taskId) ? await recoverDead(core, task, own) : 'kept';
    strays.delete(taskId);
    return what;
  };

  return {
    async recoverAll() {
      const report = emptyReport();
      const dead = await store.attempts.listOrphaned(bootId, true);
      for (const { task, attempt } of dead)
        await count(report, () => recoverDead(core, task, attempt));
      const done = new Set(dead.map(({ task }) => task.id));
      for await (const task of openTasks(core))
        if (!done.has(task.id)) await count(report, () => recoverQueued(core, task));
      logger.info('recovery.done', { ...report });
      engine.wake();
      return report;
    },
    async recoverOrphans() {
      const report = emptyReport();
      for (const { task, attempt } of await store.attempts.listOrphaned(bootId, false))
        await count(report, () => recoverDead(core, task, attempt));
      for (const taskId of Array.from(strays)) await count(report, () => recoverStray(taskId));
      if (report.again + report.observe > 0) engine.wake();
      return report;
    },
  };
}

async function* openTasks({ store }: Core): AsyncGenerator<Task> {
  for (let after: TaskPosition | undefined; ;) {
    const where = { phase: 'open', withHandle: false, limit: PAGE } as const;
    const page = await store.tasks.list('system', after ? { ...where, after } : where);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = { createdAt: last.createdAt, id: last.id };
  }
}

/** Work that was running when its process died. `dead` carries the epoch that holds now. */
async function recoverDead(core: Core, task: Task, dead: Attempt): Promise<RecoveryDecision> {
  const fence: Fence = { taskId: task.id, attemptId: dead.id, epoch: dead.epoch };
  const attempts = await core.store.attempts.listOf(task.id);
  if (!task.journalled) await withdrawPending(core, task);
  const { decision, settlement } = judge(core, task, {
    attempts,
    cutOff: await cutOffEffect(core, task, fence),
  });
  core.logger.info('task.recovered', { task: core.nameInLogs(task), decision });
  if (settlement) await core.settler.settle({ ...settlement, fence });
  else await core.store.attempts.requeue(fence, newId('attempt', core.random), decision);
  return decision;
}

/**
 * An open task of a dead process that was not running. What waits in the queue for a holder goes on waiting; what only
 * a dead connection could have answered ends before it is sent; what has nothing left to run is judged as dead work.
 */
async function recoverQueued(core: Core, task: Task): Promise<keyof RecoveryReport> {
  const { store, settler } = core;
  const attempts = await store.attempts.listOf(task.id);
  const waits = attempts.some((attempt) => attempt.state !== 'ended');
  if (waits && isHeld(task)) {
    // Its handle may have reached the caller just before the death; a handle that nobody holds does no harm.
    if (task.handle === 'pending') await store.tasks.setHandle(task.id, 'given');
    return 'kept';
  }
  const { decision, settlement } = judge(core, task, {
    attempts,
    cutOff: await cutOffEffect(core, task),
  });
  if (waits && decision !== 'settle-cancelled') return 'kept'; // it was sent: it finishes into the ledger
  await settler.settle(settlement ?? unknown(task));
  return settlement ? decision : 'settle-unknown';
}

interface Judgement {
  readonly decision: RecoveryDecision;
  /** Absent where another attempt is to run. */
  readonly settlement?: Settlement;
}

/** What the store knows of work that has to be judged. */
interface Evidence {
  readonly attempts: readonly Attempt[];
  /** The effect of a journalled handler that was cut off, if one was. */
  readonly cutOff: SentEffect | undefined;
}

/** One that went to sleep in good order has failed at nothing. */
const hasFailed = ({ endReason }: Attempt): boolean => endReason !== 'parked';

function judge(core: Core, task: Task, evidence: Evidence): Judgement {
  const { cutOff } = evidence;
  const history = historyOf(evidence.attempts);
  const attempts = evidence.attempts.filter(hasFailed).length;
  const decision = decideRecovery(
    {
      effect: stricterEffect(task.effect, core.toolOf(task)?.effect),
      dispatched: history.dispatched,
      upstreamTask: history.upstreamTask !== undefined,
      attempts,
      ...(task.journalled ? { journal: { cutOff: cutOff !== undefined } } : {}),
      cancelRequested: task.cancelRequestedAt !== undefined,
      held: isHeld(task),
    },
    core.limits,
  );
  const sentOperationId = history.dispatched ? task.operationId : undefined;
  const settlement = settlementFor(decision, task, { attempts, cutOff, sentOperationId });
  return settlement ? { decision, settlement } : { decision };
}

const unknown = (task: Task, cutOff?: SentEffect): Settlement => ({
  taskId: task.id,
  outcome: cutOff ? effectUnknown(cutOff) : outcomeUnknown(task.operationId),
  callEnd: 'lost',
  reason: 'outcome_unknown',
});

/** How a call stands that ends by its recovery. */
interface Standing {
  readonly attempts: number;
  readonly cutOff: SentEffect | undefined;
  /** Present where something may have been done, and the call is no read. */
  readonly sentOperationId: string | undefined;
}

function settlementFor(
  decision: RecoveryDecision,
  task: Task,
  { attempts, cutOff, sentOperationId }: Standing,
): Settlement | undefined {
  switch (decision) {
    case 'observe':
    case 'again':
      return undefined;
    case 'settle-unknown':
      return unknown(task, cutOff);
    case 'settle-cancelled': {
      const reason = task.cancelRequestedAt === undefined ? 'abandoned' : 'cancelled';
      return { taskId: task.id, outcome: CANCELLED, callEnd: 'cancelled', reason };
    }
    case 'settle-exhausted': {
      const outcome = attemptsExhausted(attempts, sentOperationId);
      return { taskId: task.id, outcome, callEnd: 'lost', reason: 'attempts_exhausted' };
    }
  }
}

/** Nobody listens for these answers any more; a new attempt asks anew, under new keys (Q3). */
async function withdrawPending({ store, announcer }: Core, task: Task): Promise<void> {
  const pending = await store.inputs.listPending('system', task.id);
  if (pending.length === 0) return;
  const keys = pending.map(({ key }) => key);
  const left = await store.inputs.withdraw(task.id, keys, 'upstream_lost');
  announcer.closed(task.id, keys, 'withdrawn');
  if (left) announcer.changed(left);
}
