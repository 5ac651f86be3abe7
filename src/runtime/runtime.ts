import { setMaxListeners } from 'node:events';
import type { Engine, RunAttempt } from '../engine/engine.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import type { Sealer } from '../kernel/seal.ts';
import { createFingerprint } from '../ledger/fingerprint.ts';
import type { Store } from '../stores/store.ts';
import type { Admission } from './admission.ts';
import { createAnnouncer } from './announcer.ts';
import { createAnswer } from './answering.ts';
import { createContentCheck, type ContentCheck } from './content-check.ts';
import type { Core } from './core.ts';
import type { Feed } from './feed.ts';
import type { RunTool } from './job.ts';
import { DEFAULT_LIMITS, type RuntimeLimits } from './limits.ts';
import { createLocalRuns } from './local-runs.ts';
import { createNameInLogs } from './name-in-logs.ts';
import { createQuestionDesk } from './question-desk.ts';
import { createList, createView } from './reading.ts';
import type { Receiver } from './receiver.ts';
import { createRecovery, type RecoveryReport } from './recovery.ts';
import { createRunAttempt } from './run-attempt.ts';
import { createSettler } from './settler.ts';
import { createHandleGiven, createStart } from './starting.ts';
import { createAbandon, createCancel, createCancelAsOperator } from './stopping.ts';
import { createSweeping, type SweepReport } from './sweeping.ts';
import type { ToolOf } from './tool.ts';
import { createWaiting } from './waiting.ts';

export interface RuntimeOptions {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly admission: Admission;
  /** Seals the cursors of lists. */
  readonly sealer: Sealer;
  /** Fingerprints of arguments are keyed with it: at least 32 random bytes of this installation. */
  readonly fingerprintKey: Uint8Array;
  /** Keyed hash of an id that doubles as a secret, for logs. */
  readonly hashId: (id: string) => string;
  /** This process; the same that the engine claims for. */
  readonly bootId: string;
  readonly run: RunTool;
  readonly toolOf: ToolOf;
  readonly checkContent?: ContentCheck;
  readonly limits?: Partial<RuntimeLimits>;
}

/** Gauges of this process. */
export interface RuntimeStats {
  /** Attempts that take up a slot. */
  readonly running: number;
  /** Attempts that wait for input. */
  readonly parked: number;
  /** Questions that wait for their answer here. */
  readonly openQuestions: number;
  /** Callers in a bounded wait. */
  readonly waiters: number;
  /** Runs that came to no settlement and wait for the next sweep. */
  readonly strays: number;
  readonly draining: boolean;
}

/**
 * The receiving side of one process. The order of its life: `recover`, then `engine.start(runAttempt)`, then
 * `startSweeping`; at the end `close`, then the store is closed.
 */
export interface Runtime {
  readonly receiver: Receiver;
  readonly feed: Feed;
  readonly runAttempt: RunAttempt;
  recover(): Promise<RecoveryReport>;
  /** One round: questions and tasks whose time is up, expired records, orphaned work. */
  sweep(): Promise<SweepReport>;
  startSweeping(): void;
  /** Starts nothing new from here on; what runs goes on. */
  drain(): void;
  /**
   * Drains, answers who waits, gives running work `graceMs` to end, then tells it to stop. What does not is left to
   * the recovery of the next process.
   */
  close(graceMs: number): Promise<void>;
  stats(): RuntimeStats;
}

function createCore(options: RuntimeOptions, closing: AbortSignal): Core {
  const { store, engine, clock, random, logger, bootId, run, toolOf } = options;
  const limits: RuntimeLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const nameInLogs = createNameInLogs(options.hashId);
  const announcer = createAnnouncer(
    () => store.now(),
    (thrown) => logger.error('feed.listener_failed', { problem: messageOf(thrown) }),
  );
  const desk = createQuestionDesk();
  const settler = createSettler({
    tasks: store.tasks,
    announcer,
    desk,
    clock,
    random,
    logger,
    nameInLogs,
    outcomeBytesMax: limits.outcomeBytesMax,
    onSettled: () => engine.wake(),
  });
  const shared = { store, engine, clock, random, logger, bootId, run, toolOf };
  const parts = { limits, nameInLogs, announcer, desk, settler, closing };
  return { ...shared, ...parts, runs: createLocalRuns(), strays: new Set() };
}

export function createRuntime(options: RuntimeOptions): Runtime {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // every waiter listens
  let draining = false;
  const core = createCore(options, closing.signal);
  const { store, engine, announcer } = core;
  const recovery = createRecovery(core);
  const sweeping = createSweeping(core, recovery);
  const waiting = createWaiting(core);
  const fingerprint = createFingerprint(options.fingerprintKey);

  const receiver: Receiver = {
    feed: announcer.feed,
    start: createStart({
      core,
      admission: options.admission,
      fingerprint,
      isDraining: () => draining,
    }),
    view: createView(core),
    wait: waiting.wait,
    list: createList(core, options.sealer),
    answer: createAnswer(core, options.checkContent ?? createContentCheck()),
    cancel: createCancel(core),
    cancelAsOperator: createCancelAsOperator(core),
    abandon: createAbandon(core),
    handleGiven: createHandleGiven(core),
    answeredInline: async (taskId) => void (await store.tasks.setHandle(taskId, 'inline')),
  };

  return {
    receiver,
    feed: announcer.feed,
    runAttempt: createRunAttempt(core),
    recover: recovery.recoverAll,
    sweep: sweeping.sweep,
    startSweeping: sweeping.start,
    drain: () => void (draining = true),
    async close(graceMs) {
      draining = true;
      closing.abort();
      await Promise.all([sweeping.stop(), engine.stop(graceMs)]);
      await stopRuns(core);
    },
    stats: () => ({
      running: engine.runningCount(),
      parked: engine.parkedCount(),
      openQuestions: core.desk.size(),
      waiters: waiting.count(),
      strays: core.strays.size,
      draining,
    }),
  };
}

/** Tells what still runs to stop, and waits for it as long as any run gets. */
async function stopRuns({ runs, clock, limits }: Core): Promise<void> {
  const left = runs.all();
  for (const run of left) run.stop('shutdown');
  if (left.length === 0) return;
  const waited = new AbortController();
  const grace = sleep(clock, limits.stopGraceMs * 2, waited.signal);
  await Promise.race([Promise.all(left.map((run) => run.ended)), grace]);
  waited.abort();
}
