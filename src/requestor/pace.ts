import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';

/** Without a hint: once a second at first, more slowly as the task gets older. */
const FIRST_MS = 1_000;
const GROWTH = 1.2;
const UNHINTED_MS_MAX = 15_000;
/** A hint is the floor, inside reason: a peer must not make us hammer it, or forget it. */
const HINT_MS_MIN = 50;
const HINT_MS_MAX = 300_000;
/** Up to a fifth is added, so that many tasks do not poll in step. */
const JITTER = 0.2;
const AFTER_FAILURE: Backoff = { firstMs: 500, maxMs: 30_000, factor: 2 };

/** When to look at a task again. */
export interface Pace {
  /** Remembers the peer's latest hint, in ms. */
  hint(intervalMs: unknown): void;
  /** Waits for the next look; a nudge ends the wait early. */
  rest(signal: AbortSignal): Promise<void>;
  /** Waits after a look that failed. Returns how many have failed in a row. */
  recover(signal: AbortSignal, atLeastMs?: number): Promise<number>;
  /** A look came through. */
  succeeded(): void;
  nudge(): void;
}

export function createPace(clock: Clock, random: Random): Pace {
  let hintMs: number | undefined;
  let restMs = FIRST_MS;
  let failures = 0;
  let waker: AbortController | undefined;
  let nudged = false;

  const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (nudged) {
      nudged = false;
      return;
    }
    waker = new AbortController();
    await sleep(clock, ms, AbortSignal.any([signal, waker.signal]));
    waker = undefined;
    nudged = false;
  };
  return {
    hint(intervalMs) {
      if (typeof intervalMs !== 'number' || !Number.isFinite(intervalMs) || intervalMs <= 0) return;
      hintMs = Math.min(Math.max(intervalMs, HINT_MS_MIN), HINT_MS_MAX);
    },
    async rest(signal) {
      const baseMs = hintMs ?? restMs;
      restMs = Math.min(restMs * GROWTH, UNHINTED_MS_MAX);
      await wait(Math.round(baseMs * (1 + random.fraction() * JITTER)), signal);
    },
    async recover(signal, atLeastMs = 0) {
      const ms = Math.max(atLeastMs, hintMs ?? 0, backoffMs(AFTER_FAILURE, failures, random));
      failures += 1;
      await wait(ms, signal);
      return failures;
    },
    succeeded: () => void (failures = 0),
    nudge() {
      nudged = true;
      waker?.abort();
    },
  };
}
