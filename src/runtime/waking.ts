import type { Engine } from '../engine/engine.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';
import type { Store } from '../stores/store.ts';

/** Wakes attempts that sleep until a time: by a timer for the next of them, and by the sweep as the net under it. */
export interface Waking {
  /** Queues what is due, then waits for the next; says how many were queued. */
  wakeDue(): Promise<number>;
  /** An attempt went to sleep: it may be due before all others, or at once. */
  afterParking(): Promise<void>;
  stop(): void;
}

export interface WakingOptions {
  readonly store: Pick<Store, 'attempts' | 'now'>;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Attempts per statement. */
  readonly batch: number;
}

export function createWaking({ store, engine, clock, logger, batch }: WakingOptions): Waking {
  let timer: Timer | undefined;
  let stopped = false;

  const arm = async (): Promise<void> => {
    const at = await store.attempts.nextWakeAt();
    timer?.cancel();
    if (stopped || at === undefined) return;
    timer = clock.after(Math.max(0, at - store.now()), () => void quietly(wakeDue));
  };
  const wakeDue = async (): Promise<number> => {
    const woken = await store.attempts.wakeDue(batch);
    if (woken > 0) engine.wake();
    await arm();
    return woken;
  };
  /** What fails is left to the next sweep. */
  const quietly = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (thrown) {
      if (!stopped) logger.warn('attempt.wake_failed', { problem: messageOf(thrown) });
    }
  };

  return {
    wakeDue,
    async afterParking() {
      engine.wake(); // what it waits for may have happened already
      await quietly(arm);
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
