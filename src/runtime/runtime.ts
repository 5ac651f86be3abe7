import { setMaxListeners } from 'node:events';
import type { Engine, RunAttempt } from '../engine/engine.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import type { Sealer } from '../kernel/seal.ts';
import { createVault, subkey } from '../kernel/vault.ts';
import { createHashKey } from '../ledger/claim-key.ts';
import { createFingerprint } from '../ledger/fingerprint.ts';
import type { BlobStore } from '../stores/artifacts.ts';
import type { Store } from '../stores/store.ts';
import type { Admission } from './admission.ts';
import { createAnnouncer } from './announcer.ts';
import { createAnswer } from './answering.ts';
import { createFit } from './artifacts/fitting.ts';
import { createArtifactKeeper, type ArtifactPolicy } from './artifacts/keeper.ts';
import { createOpenArtifact, createPresentBounded } from './artifacts/reading.ts';
import {
  createCallMeter,
  type CallLabels,
  type CallMeter,
  type RefusalLabels,
  type RepeatLabels,
} from './call-meter.ts';
import { createCallers } from './callers.ts';
import { createConfirmations } from './confirmations.ts';
import { createConfirm } from './confirming.ts';
import { createContentCheck, type ContentCheck } from './content-check.ts';
import type { Core, MayResume } from './core.ts';
import { createExpiryTally, type ByFieldClass } from './expiry-tally.ts';
import type { Feed } from './feed.ts';
import type { RunTool } from './job.ts';
import { DEFAULT_LIMITS, type RuntimeLimits } from './limits.ts';
import { createLocalRuns } from './local-runs.ts';
import { createNameInLogs } from './name-in-logs.ts';
import { createOperationOf } from './operation-reading.ts';
import { createQuestionDesk } from './question-desk.ts';
import { createAskingTasks, createList, createView } from './reading.ts';
import type { Receiver } from './receiver.ts';
import { createRecovery, type RecoveryReport } from './recovery.ts';
import { createRunAttempt } from './run-attempt.ts';
import { createSettler } from './settler.ts';
import { createHandleGiven, createStart } from './starting.ts';
import { createAbandon, createCancel, createCancelAsOperator } from './stopping.ts';
import { createEffectKeys } from './steps/effect-keys.ts';
import { withJournal, type HandleJob } from './steps/with-journal.ts';
import { createSweeping, type SweepReport } from './sweeping.ts';
import type { ToolOf } from './tool.ts';
import { createWaiting } from './waiting.ts';
import { createWaking } from './waking.ts';

export interface RuntimeOptions {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly admission: Admission;
  /** Seals the cursors of lists. */
  readonly sealer: Sealer;
  /**
   * Fingerprints of arguments are keyed with it, and what pages confirm with and send along with keys derived from it:
   * at least 32 random bytes of this installation.
   */
  readonly fingerprintKey: Uint8Array;
  /** Where pages confirm over HTTP; absent or nothing where this process serves no HTTP. */
  readonly confirmUrl?: () => string | undefined;
  /** Default: work goes on that has begun. */
  readonly mayResume?: MayResume;
  /** Keyed hash of an id that doubles as a secret, for logs. */
  readonly hashId: (id: string) => string;
  /** This process; the same that the engine claims for. */
  readonly bootId: string;
  readonly run: RunTool;
  /** What tools with a journal do; absent where there are none. */
  readonly handle?: HandleJob;
  readonly toolOf: ToolOf;
  readonly checkContent?: ContentCheck;
  readonly limits?: Partial<RuntimeLimits>;
  /** Absent: results are kept whole or not at all, and none is shown by a link. */
  readonly artifacts?: { readonly blobs: BlobStore; readonly policy: ArtifactPolicy };
}

/** Gauges of this process. */
export interface RuntimeStats {
  /** Attempts that take up a slot. */
  readonly running: number;
  /** Attempts that wait for input. */
  readonly parked: number;
  /** Questions that wait for their answer here. */
  readonly openQuestions: number;
  /** Questions that nobody answered in time, since the start. */
  readonly inputsExpired: ByFieldClass;
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
  /** Calls of this process that were recognized as made before. */
  readonly repeats: Pick<CallMeter<RepeatLabels>, 'counts'>;
  /** Calls for which there was no room in this process. */
  readonly refusals: Pick<CallMeter<RefusalLabels>, 'counts'>;
  /** Effects of this process that were sent twice: must stay empty. */
  readonly duplicates: Pick<CallMeter<CallLabels>, 'counts'>;
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
  const now = (): number => store.now();
  const keeper =
    options.artifacts &&
    createArtifactKeeper({
      ...options.artifacts,
      artifacts: store.artifacts,
      now,
      random,
      logger,
    });
  const { outcomeBytesMax } = limits;
  const settler = createSettler({
    tasks: store.tasks,
    journal: store.journal,
    announcer,
    desk,
    clock,
    random,
    logger,
    nameInLogs,
    fit: createFit({ tasks: store.tasks, toolOf, keeper, outcomeBytesMax }),
    keeper,
    onSettled: () => engine.wake(),
  });
  const shared = { store, engine, clock, random, logger, bootId, toolOf };
  const parts = { limits, nameInLogs, announcer, desk, settler, keeper, closing };
  const asking = {
    vault: createVault(subkey(options.fingerprintKey, 'page-vault'), random),
    confirmations: createConfirmations({
      key: subkey(options.fingerprintKey, 'page-confirmation'),
      random,
      callbackUrl: options.confirmUrl ?? (() => undefined),
    }),
    mayResume: options.mayResume ?? (() => true),
    expiries: createExpiryTally(),
  };
  const keys = createEffectKeys(subkey(options.fingerprintKey, 'effect-keys'));
  const journalling = { run, clock, random, logger, keys, ...asking };
  const { handle } = options;
  const running = { run: handle ? withJournal({ ...journalling, handle }) : run };
  const waking = createWaking({ store, engine, clock, logger, batch: limits.sweepBatch });
  const present = { runs: createLocalRuns(), callers: createCallers(announcer.feed), waking };
  const meters = {
    repeats: createCallMeter<RepeatLabels>(),
    refusals: createCallMeter<RefusalLabels>(),
    duplicates: createCallMeter<CallLabels>(),
  };
  return { ...shared, ...running, ...parts, ...asking, ...present, ...meters, strays: new Set() };
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
      hashKey: createHashKey(options.fingerprintKey),
      isDraining: () => draining,
    }),
    view: createView(core),
    openArtifact: createOpenArtifact(core),
    presentBounded: createPresentBounded(core),
    wait: waiting.wait,
    operation: createOperationOf(core),
    list: createList(core, options.sealer),
    answer: createAnswer(core, options.checkContent ?? createContentCheck()),
    asking: createAskingTasks(core),
    confirm: createConfirm(core),
    cancel: createCancel(core),
    cancelAsOperator: createCancelAsOperator(core),
    abandon: createAbandon(core),
    isShared: core.callers.isShared,
    delivered: (taskId) => store.tasks.markDelivered(taskId),
    handleGiven: createHandleGiven(core),
    answeredInline: async (taskId) => void (await store.tasks.setHandle(taskId, 'inline')),
  };

  return {
    receiver,
    feed: announcer.feed,
    repeats: core.repeats,
    refusals: core.refusals,
    duplicates: core.duplicates,
    runAttempt: createRunAttempt(core),
    async recover() {
      const recovered = await recovery.recoverAll();
      await sweeping.healArtifacts();
      return recovered;
    },
    sweep: sweeping.sweep,
    startSweeping: sweeping.start,
    drain: () => void (draining = true),
    async close(graceMs) {
      draining = true;
      closing.abort();
      core.waking.stop();
      await Promise.all([sweeping.stop(), engine.stop(graceMs)]);
      await stopRuns(core);
    },
    stats: () => ({
      running: engine.runningCount(),
      parked: engine.parkedCount(),
      openQuestions: core.desk.size(),
      inputsExpired: core.expiries.byClass(),
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
