import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';

/** Wakes one loop that otherwise looks again at intervals. A ring before the wait is not lost. */
export interface Bell {
  ring(): void;
  /** Resolves with the next ring, or after `forMs`. */
  wait(forMs: number): Promise<'rung' | 'elapsed'>;
}

export function createBell(clock: Clock): Bell {
  let next = createDeferred<'rung' | 'elapsed'>();
  return {
    ring: () => next.resolve('rung'),
    async wait(forMs) {
      const timer = clock.after(forMs, () => next.resolve('elapsed'));
      const heard = await next.promise;
      timer.cancel();
      next = createDeferred();
      return heard;
    },
  };
}
