import type { Timer } from '../kernel/clock.ts';
import { messageOf } from '../kernel/logger.ts';
import type { InputRequest } from '../protocol/model.ts';
import type { Core } from './core.ts';
import { ttlExpired } from './outcomes.ts';
import { NOTHING_RECOVERED, type Recovery, type RecoveryReport } from './recovery.ts';

/** Batches of one kind per round: a backlog is worked off over rounds, between which others get their turn. */
const BATCHES_MAX = 10;
/** Artifacts and their content are compared this often: what tears them apart is rare, and it reads a directory. */
const HEAL_EVERY_MS = 600_000;

/** What one round has done. */
export interface SweepReport {
  /** Open tasks that were ended because their time was up. */
  readonly overdue: number;
  /** Records that were deleted. */
  readonly deleted: number;
  /** Parked attempts whose time had come. */
  readonly woken: number;
  /** Questions that nobody answered in time. */
  readonly inputsExpired: number;
  readonly recovered: RecoveryReport;
  /** Artifacts whose time was up. */
  readonly artifacts: number;
}

export interface Sweeping {
  /** One round; a round that is under way is joined. */
  sweep(): Promise<SweepReport>;
  start(): void;
  /** Takes away what a death has left between artifacts and their content; a failure waits for the next time. */
  healArtifacts(): Promise<void>;
  /** Resolves when no round runs any more. */
  stop(): Promise<void>;
}

export function createSweeping(core: Core, recovery: Recovery): Sweeping {
  const { clock, limits, logger } = core;
  let round: Promise<SweepReport> | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  /** A part that fails is tried again in the next round, and keeps none of the others from its work. */
  const part = <T>(work: Promise<T>, nothing: T): Promise<T> =>
    work.catch((thrown: unknown) => {
      logger.warn('sweep.failed', { problem: messageOf(thrown) });
      return nothing;
    });
  const play = async (): Promise<SweepReport> => ({
    woken: await part(core.waking.wakeDue(), 0),
    inputsExpired: await part(inBatches(core, expireInputs), 0),
    overdue: await part(inBatches(core, endOverdue), 0),
    deleted: await part(inBatches(core, deleteExpired), 0),
    artifacts: await part(inBatches(core, sweepArtifacts), 0),
    recovered: await part(recovery.recoverOrphans(), NOTHING_RECOVERED),
  });
  const sweep = (): Promise<SweepReport> => {
    round ??= play().finally(() => (round = undefined));
    return round;
  };
  let healedAt = clock.monotonic();
  const healArtifacts = async (): Promise<void> => {
    healedAt = clock.monotonic();
    await part(Promise.resolve(core.keeper?.heal()), undefined);
  };
  const healAgain = async (): Promise<void> => {
    if (clock.monotonic() - healedAt >= HEAL_EVERY_MS) await healArtifacts();
  };
  const arm = (): void => {
    if (stopped) return;
    const sweepAndHeal = (): Promise<void> => sweep().then(noteWork).then(healAgain);
    timer = clock.after(limits.sweepEveryMs, () => void sweepAndHeal().finally(arm));
  };
  const noteWork = ({ overdue, deleted, inputsExpired }: SweepReport): void => {
    if (overdue + deleted + inputsExpired > 0)
      logger.debug('sweep.done', { overdue, deleted, inputsExpired });
  };

  return {
    sweep,
    start: arm,
    healArtifacts,
    async stop() {
      stopped = true;
      timer?.cancel();
      await round;
    },
  };
}

/** Repeats one statement's worth of work until there is no more, or this round's share is done. */
async function inBatches(core: Core, batch: (core: Core) => Promise<number>): Promise<number> {
  let done = 0;
  for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
    const count = await batch(core);
    done += count;
    if (count < core.limits.sweepBatch) break;
  }
  return done;
}

/** Ends tasks whose time is up before the work was: who waits is answered first, then the work is stopped (E2, E6). */
async function endOverdue({ store, settler, runs, limits }: Core): Promise<number> {
  const ids = await store.tasks.listOverdue(limits.sweepBatch);
  for (const taskId of ids) {
    await settler.settle({
      taskId,
      outcome: ttlExpired(),
      callEnd: 'run_limit',
      reason: 'ttl_expired',
    });
    runs.of(taskId)?.stop('run_limit');
  }
  return ids.length;
}

const deleteExpired = ({ store, limits }: Core): Promise<number> =>
  store.tasks.sweepExpired(limits.sweepBatch);

const sweepArtifacts = async ({ keeper, limits }: Core): Promise<number> =>
  keeper ? keeper.sweep(limits.sweepBatch) : 0;

/** Questions whose time is up: recorded as answered by nobody, and whoever asked is told. */
async function expireInputs({
  store,
  announcer,
  desk,
  limits,
  engine,
  expiries,
}: Core): Promise<number> {
  const due = await store.inputs.listDue(limits.sweepBatch);
  for (const [taskId, inputs] of byTask(due)) {
    const keys = inputs.map(({ key }) => key);
    const left = await store.inputs.withdraw(taskId, keys, 'expired');
    for (const { key, policy } of inputs) {
      const answer = await store.inputs.answerOf(taskId, key);
      if (!answer) expiries.count(key, policy);
      desk.reply(key, answer ? { kind: 'answer', answer } : { kind: 'expired' });
    }
    announcer.closed(taskId, keys, 'expired');
    if (left) announcer.changed(left);
  }
  if (due.length > 0) engine.wake(); // whoever sleeps on them is queued now
  return due.length;
}

function byTask(inputs: readonly InputRequest[]): ReadonlyMap<string, readonly InputRequest[]> {
  const groups = new Map<string, InputRequest[]>();
  for (const input of inputs)
    groups.set(input.taskId, [...(groups.get(input.taskId) ?? []), input]);
  return groups;
}
