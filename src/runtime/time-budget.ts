import type { Clock, Timer } from '../kernel/clock.ts';

/** Time that is spent only while it runs: a run's limit without its waits, or the waits without the run. */
export interface TimeBudget {
  /** Pauses nest: it runs again when every `pause` has met its `resume`. */
  pause(): void;
  resume(): void;
  remainingMs(): number;
  spentMs(): number;
  /** Stops for good; `onSpent` is not called any more. */
  end(): void;
}

/** By monotonic time of this process, so that a jumping wall clock moves nothing. `onSpent` is called at most once. */
export function createTimeBudget(clock: Clock, limitMs: number, onSpent: () => void): TimeBudget {
  let pauses = 0;
  let spentMs = 0;
  let since = clock.monotonic();
  let timer: Timer | undefined;
  let over = false;

  const running = (): boolean => !over && pauses === 0;
  const spent = (): number => spentMs + (running() ? clock.monotonic() - since : 0);
  const end = (): void => {
    spentMs = spent();
    over = true;
    timer?.cancel();
  };
  const arm = (): void => {
    since = clock.monotonic();
    timer = clock.after(limitMs - spentMs, () => {
      end();
      onSpent();
    });
  };
  arm();

  return {
    pause() {
      if (running()) {
        spentMs = spent();
        timer?.cancel();
      }
      pauses += 1;
    },
    resume() {
      pauses -= 1;
      if (running()) arm();
    },
    remainingMs: () => Math.max(0, limitMs - spent()),
    spentMs: spent,
    end,
  };
}
