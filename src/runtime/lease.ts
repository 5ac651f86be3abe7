import type { Timer } from '../kernel/clock.ts';
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
}

/** A lease that is kept until it is let go. */
export interface Lease {
  release(): void;
}

/** Extends the lease with every heartbeat, and hears what was decided elsewhere: a cancel, an answer, a lost lease. */
export function keepLease(options: LeaseOptions): Lease {
  const { clock, limits } = options.core;
  const beat = createBeat(options);
  let released = false;
  let timer: Timer | undefined;
  const arm = (): void => {
    if (!released) timer = clock.after(limits.heartbeatMs, () => void beat().finally(arm));
  };
  arm();
  return {
    release() {
      released = true;
      timer?.cancel();
    },
  };
}

function createBeat({ core, task, fence, stopper }: LeaseOptions): () => Promise<void> {
  const { store, limits, clock, logger } = core;
  let keptAt = clock.monotonic();
  return async () => {
    try {
      const kept = await store.attempts.extend(fence, limits.leaseMs);
      if (kept) keptAt = clock.monotonic();
      const now = await store.tasks.get('system', task.id);
      const cancelled =
        now?.ending === 'cancelled' || (kept && now?.cancelRequestedAt !== undefined);
      if (cancelled) stop(stopper, 'cancelled');
      else if (!kept) stop(stopper, 'lease_lost');
      await hearAnswers(core, task.id);
    } catch (thrown) {
      const problem = messageOf(thrown);
      logger.warn('attempt.heartbeat_failed', { attempt: fence.attemptId, problem });
      // Whether it still holds cannot be known: from here on another process may have taken over.
      if (clock.monotonic() - keptAt > limits.leaseMs) stop(stopper, 'lease_lost');
    }
  };
}

/** Answers that another process has taken. */
async function hearAnswers({ store, desk }: Core, taskId: string): Promise<void> {
  for (const key of desk.waiting(taskId)) {
    const answer = await store.inputs.answerOf(taskId, key);
    if (answer) desk.reply(key, { kind: 'answer', answer });
  }
}
