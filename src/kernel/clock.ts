/** The longest delay a platform timer takes; longer waits are chained (a 32-bit overflow would fire at once). */
const TIMER_MS_MAX = 2_000_000_000;

/** A timer that can be called off. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time. `now` is wall time in ms since the epoch and may jump; `monotonic` is ms that only
 * grow, for measuring and for deadlines of this process.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  /** Runs `fire` once after `delayMs` (any length, also beyond 2³¹ ms). Does not keep the process alive. */
  after(delayMs: number, fire: () => void): Timer;
}

function armTimer(delayMs: number, fire: () => void): Timer {
  let handle: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const stepMs = Math.min(Math.max(0, leftMs), TIMER_MS_MAX);
    handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : fire()), stepMs);
    handle.unref();
  };
  arm(delayMs);
  return { cancel: () => clearTimeout(handle) };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: armTimer,
};

/** Resolves after `delayMs`, or at once when `signal` is aborted; the answer says which. */
export function sleep(
  clock: Clock,
  delayMs: number,
  signal?: AbortSignal,
): Promise<'elapsed' | 'aborted'> {
  if (signal?.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const onAbort = (): void => {
      timer.cancel();
      resolve('aborted');
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve('elapsed');
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** RFC 3339 in UTC with milliseconds and `Z` (T16). */
export const toIso = (ms: number): string => new Date(ms).toISOString();
