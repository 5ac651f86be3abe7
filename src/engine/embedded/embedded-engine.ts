import type { Clock, Timer } from '../../kernel/clock.ts';
import { messageOf, type Logger } from '../../kernel/logger.ts';
import type { ClaimedAttempt } from '../../stores/attempts.ts';
import type { Store } from '../../stores/store.ts';
import type { Engine, RunAttempt } from '../engine.ts';
import { createPlaces } from './places.ts';
import { createRounds } from './rounds.ts';

export interface EmbeddedEngineOptions {
  readonly store: Pick<Store, 'attempts'>;
  /** Boot id of this process: the holder of the leases that are taken here. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Most attempts that run here at once. */
  readonly slots: number;
  /** Most attempts that wait for input without taking up a slot; those above it go on taking up theirs. */
  readonly parkedMax: number;
  /** Most running attempts per front tool name, asked before each claim: policy may be read anew. */
  readonly runningPerTool: () => Readonly<Record<string, number>>;
  /** The same for each tool whose cap nobody knows now; none where absent. */
  readonly runningPerOtherTool?: number;
  /** Upstreams that are not to be had here now, asked before each claim: their tasks stay queued. */
  readonly exceptUpstreams?: () => readonly string[];
  readonly leaseMs: number;
  /** How often to look without being woken: the net under lost wake-ups. */
  readonly sweepEveryMs: number;
}

/** Runs attempts in this process: claims when woken, when a place becomes free, and by a slow sweep. */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): Engine {
  const { store, clock, logger } = options;
  const places = createPlaces({
    slots: options.slots,
    parkedMax: options.parkedMax,
    onFree: () => wake(),
  });
  let runner: RunAttempt | undefined;
  let stopping = false;
  let sweep: Timer | undefined;

  const launch = (run: RunAttempt, claimed: ClaimedAttempt): void => {
    const place = places.take(claimed.task.tool);
    const failed = (thrown: unknown): void =>
      logger.error('attempt.run_rejected', {
        attempt: claimed.attempt.id,
        problem: messageOf(thrown),
      });
    void run(claimed, place.slot).catch(failed).finally(place.leave);
  };

  const { owner, leaseMs, runningPerOtherTool } = options;
  const claim = {
    owner,
    leaseMs,
    ...(runningPerOtherTool === undefined ? {} : { runningPerOtherTool }),
  };
  /** Claims until the store has no more or no place is free. What a claim brings after the stop is left to recovery. */
  const claimAll = async (run: RunAttempt): Promise<void> => {
    for (let limit = places.free(); limit > 0 && !stopping; limit = places.free()) {
      const runningPerTool = places.withParked(options.runningPerTool());
      const exceptUpstreams = options.exceptUpstreams?.() ?? [];
      const params = { ...claim, limit, runningPerTool, exceptUpstreams };
      const claimed = await store.attempts.claim(params);
      if (stopping) return;
      for (const attempt of claimed) launch(run, attempt);
      if (claimed.length < limit) return;
    }
  };

  const rounds = createRounds(async () => {
    if (!runner || stopping) return;
    await claimAll(runner).catch((thrown: unknown) => {
      if (!stopping) logger.warn('engine.claim_failed', { problem: messageOf(thrown) });
    });
  });
  const wake = (): void => {
    if (runner && !stopping) rounds.request();
  };
  const armSweep = (): void => {
    sweep = clock.after(options.sweepEveryMs, () => {
      wake();
      armSweep();
    });
  };

  return {
    start(run) {
      runner = run;
      armSweep();
      wake();
    },
    wake,
    async stop(graceMs) {
      stopping = true;
      sweep?.cancel();
      await rounds.idle();
      await places.emptied(clock, graceMs);
    },
    runningCount: places.runningCount,
    parkedCount: places.parkedCount,
  };
}
