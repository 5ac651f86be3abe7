import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep, type Timer } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { LongcallError } from '../kernel/errors.ts';
import { messageOf } from '../kernel/logger.ts';
import { plainUpstreamName } from '../protocol/upstream-name.ts';
import type { UpstreamState } from './manifest.ts';
import type { Settings } from './options.ts';

const AGAIN: Backoff = { firstMs: 500, maxMs: 60_000, factor: 2 };
/** An upstream that stayed up this long has not failed to start. */
const STEADY_MS = 30_000;
/** Calls may hurry an attempt along, but not hammer a peer that is down. */
const HURRY_MS_MIN = 1_000;

export interface HealingOptions {
  readonly settings: Settings;
  readonly upstream: string;
  /** Resolves with what puts the new connection to use. */
  connect(): Promise<() => void>;
  onState(): void;
}

/** Brings an upstream up, and up again, with growing pauses. */
export interface Healing {
  /** Resolves once it is up: joins or starts an attempt. Rejects when that one fails. */
  connected(signal: AbortSignal): Promise<void>;
  /** Its last connection is gone. */
  lost(problem: string): void;
  state(): { readonly state: UpstreamState; readonly problem?: string };
  /** No further attempt; resolves when one that is under way has ended. */
  stop(): Promise<void>;
}

export function createHealing({ settings, upstream, connect, onState }: HealingOptions): Healing {
  const { clock, random, logger } = settings;
  let state: UpstreamState = 'connecting';
  let problem: string | undefined;
  let failures = 0;
  let upSince = 0;
  let failedAt = Number.NEGATIVE_INFINITY;
  let attempt: Promise<void> | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  const move = (next: UpstreamState, why?: string): void => {
    [state, problem] = [next, why];
    onState();
  };
  const schedule = (delayMs: number): void => {
    timer?.cancel();
    if (!stopped) timer = clock.after(delayMs, () => void start().catch(() => undefined));
  };
  const run = async (): Promise<void> => {
    timer?.cancel();
    if (state === 'down') move('connecting', problem);
    try {
      const use = await connect();
      upSince = clock.monotonic();
      logger.info('upstream.up', { upstream });
      move('up');
      use(); // last, so that a connection that is dead by now is found lost
    } catch (error) {
      if (stopped) throw error;
      failedAt = clock.monotonic();
      logger.warn('upstream.unreachable', { upstream, failures, problem: messageOf(error) });
      move('down', messageOf(error));
      schedule(backoffMs(AGAIN, failures, random));
      failures += 1;
      throw error;
    }
  };
  const start = (): Promise<void> => {
    attempt ??= run().finally(() => (attempt = undefined));
    return attempt;
  };
  return {
    async connected(signal) {
      if (stopped) throw unreachable(upstream, 'the gateway is stopping');
      const hurryMs = HURRY_MS_MIN - (clock.monotonic() - failedAt);
      if (!attempt && hurryMs > 0) await sleep(clock, hurryMs, signal);
      const up = start().catch((error: unknown) => {
        throw unreachable(upstream, messageOf(error), error);
      });
      await unlessAborted(up, signal);
    },
    lost(why) {
      if (stopped) return;
      if (clock.monotonic() - upSince > STEADY_MS) failures = 0;
      logger.warn('upstream.lost', { upstream, problem: why });
      move('down', why);
      schedule(failures === 0 ? 0 : backoffMs(AGAIN, failures - 1, random));
      failures += 1;
    },
    state: () => (problem === undefined ? { state } : { state, problem }),
    async stop() {
      stopped = true;
      timer?.cancel();
      await attempt?.catch(() => undefined);
    },
  };
}

/** Waits no longer than its caller does; the attempt itself goes on. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const given = createDeferred<never>();
  const giveUp = (): void =>
    given.reject(
      new LongcallError(
        'LONGCALL_CAPACITY',
        'the call was given up while its upstream was connecting',
      ),
    );
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  await Promise.race([work, given.promise]).finally(() =>
    signal.removeEventListener('abort', giveUp),
  );
}

/** An upstream that cannot be reached; nothing was sent to it. */
export function unreachable(upstream: string, problem: string, cause?: unknown): LongcallError {
  return new LongcallError(
    'LONGCALL_UPSTREAM_UNREACHABLE',
    `upstream "${plainUpstreamName(upstream)}" cannot be reached: ${problem}`,
    {
      hint: 'nothing was sent; try again later',
      cause,
    },
  );
}
