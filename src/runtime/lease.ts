import type { Clock, Timer } from '../kernel/clock.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Task } from '../protocol/model.ts';
import type { Fence } from '../stores/attempts.ts';
import type { Core } from './core.ts';
import { stop } from './stop.ts';

export interface LeaseOptions {
  readonly core: Core;
  readonly task: Task;
  readonly fence: Fence;
  /** Tells the run to stop. */
  readonly stopper: AbortController;
  /** How long the attempt has run, without its waits: each heartbeat remembers it. */
  readonly ranMs: () => number;
  /** Called with every look at what others have decided. */
  readonly onLook: () => void;
}

/** A lease that is kept until it is let go. */
export interface Lease {
  release(): void;
}

/**
 * Extends the lease with every heartbeat, and looks in between for what was decided elsewhere: a cancel, an answer, a
 * lost lease. So a cancel reaches a handler in another process within two seconds (decision 15).
 */
export function keepLease(options: LeaseOptions): Lease {
  const { clock, limits } = options.core;
  const { extend, look } = createWatch(options);
  const heartbeat = repeat(clock, limits.heartbeatMs, extend);
  const looking = repeat(clock, limits.lookEveryMs, look);
  return {
    release() {
      heartbeat.cancel();
      looking.cancel();
    },
  };
}

/** Does the work again and again, that long after it was done. */
function repeat(clock: Clock, everyMs: number, work: () => Promise<void>): Timer {
  let cancelled = false;
  let timer: Timer | undefined;
  const arm = (): void => {
    if (!cancelled) timer = clock.after(everyMs, () => void work().finally(arm));
  };
  arm();
  return {
    cancel() {
      cancelled = true;
      timer?.cancel();
    },
  };
}

interface Watch {
  extend(): Promise<void>;
  look(): Promise<void>;
}

function createWatch({ core, task, fence, stopper, ranMs, onLook }: LeaseOptions): Watch {
  const { store, limits, clock, logger } = core;
  let keptAt = clock.monotonic();

  const readRecord = async (kept: boolean): Promise<void> => {
    const now = await store.tasks.get('system', task.id);
    const cancelled = now?.ending === 'cancelled' || (kept && now?.cancelRequestedAt !== undefined);
    if (cancelled) stop(stopper, 'cancelled');
    else if (!kept) stop(stopper, 'lease_lost');
    await hearAnswers(core, task.id);
    onLook();
  };
  const failed = (event: string, thrown: unknown): void =>
    logger.warn(event, { attempt: fence.attemptId, problem: messageOf(thrown) });

  return {
    async extend() {
      try {
        const kept = await store.attempts.extend(fence, limits.leaseMs, ranMs());
        if (kept) keptAt = clock.monotonic();
        await readRecord(kept);
      } catch (thrown) {
        failed('attempt.heartbeat_failed', thrown);
        // Whether it still holds cannot be known: from here on another process may have taken over.
        if (clock.monotonic() - keptAt > limits.leaseMs) stop(stopper, 'lease_lost');
      }
    },
    look: () => readRecord(true).catch((thrown: unknown) => failed('attempt.look_failed', thrown)),
  };
}

/** Answers that another process has taken. */
async function hearAnswers({ store, desk }: Core, taskId: string): Promise<void> {
  for (const key of desk.waiting(taskId)) {
    const answer = await store.inputs.answerOf(taskId, key);
    if (answer) desk.reply(key, { kind: 'answer', answer });
  }
}
