import type { Clock } from '../kernel/clock.ts';
import type { Connection } from '../requestor/connection.ts';

/** Changes come in bursts while a server registers its tools. */
const SETTLE_MS = 50;
/** A list that changes without end is read ever less often: each reading costs a write, and a word to every caller. */
const PAUSE_MS_MAX = 5_000;
/** A change after this time without one is the first of its burst. */
const CALM_MS = 10_000;

export interface RetakerOptions {
  readonly clock: Clock;
  retake(connection: Connection): Promise<void>;
  onFailed(error: unknown): void;
}

/** Takes evidence anew after it was said to have changed: once for a burst, never twice at a time. */
export interface Retaker {
  soon(connection: Connection): void;
}

export function createRetaker({ clock, retake, onFailed }: RetakerOptions): Retaker {
  let wanted: Connection | undefined;
  let running = false;
  let takenAt = Number.NEGATIVE_INFINITY;
  let pauseMs = SETTLE_MS;
  const arm = (): void => {
    const isCalm = clock.monotonic() - takenAt > CALM_MS;
    pauseMs = isCalm ? SETTLE_MS : Math.min(pauseMs * 2, PAUSE_MS_MAX);
    running = true;
    clock.after(pauseMs, () => void run());
  };
  const run = async (): Promise<void> => {
    const connection = wanted;
    wanted = undefined;
    if (connection?.isOpen()) await retake(connection).catch(onFailed);
    takenAt = clock.monotonic();
    running = false;
    if (wanted) arm();
  };
  return {
    soon(connection) {
      wanted = connection;
      if (!running) arm();
    },
  };
}
