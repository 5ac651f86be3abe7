import { mayOn } from '../identity/permissions.ts';
import type { Timer } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { expiresAt, type Task } from '../protocol/model.ts';
import { accessOf, type Core } from './core.ts';
import type { TaskEvent } from './feed.ts';
import type { Receiver, WaitOptions, Waited } from './receiver.ts';

export interface Waiting {
  readonly wait: Receiver['wait'];
  /** How many wait now. */
  count(): number;
}

/** Bounded waits: the feed and one look at the store, never a loop of reads. */
export function createWaiting(core: Core): Waiting {
  let waiters = 0;
  const wait: Receiver['wait'] = async (principal, taskId, options) => {
    const vigil = createVigil(core, taskId, options);
    waiters += 1;
    try {
      const task = await core.store.tasks.get(accessOf(principal), taskId);
      if (!task || !mayOn(principal, 'task.read', task)) return 'ended';
      vigil.begin(task);
      return await vigil.outcome;
    } finally {
      waiters -= 1;
      vigil.stop();
    }
  };
  return { wait, count: () => waiters };
}

interface Vigil {
  readonly outcome: Promise<Waited>;
  /** `task`: what the look at the store has found. */
  begin(task: Task): void;
  stop(): void;
}

/** Watches from the start, so that nothing falls between the look at the store and the feed. */
function createVigil(
  core: Core,
  taskId: string,
  { forMs, signal, untilAsked }: WaitOptions,
): Vigil {
  const { store, clock, announcer, closing } = core;
  const end = createDeferred<Waited>();
  const see = ({ phase }: Task): void => {
    if (phase === 'ended') end.resolve('ended');
    if (phase === 'input_required' && untilAsked) end.resolve('asked');
  };
  const onEvent = (event: TaskEvent): void => {
    if (event.kind === 'changed' || event.kind === 'asked') see(event.task);
  };
  const onAbort = (): void => end.resolve('aborted');
  const unwatch = announcer.feed.watch(taskId, onEvent);
  let elapsed: Timer | undefined;
  let expiry: Timer | undefined;
  /** Who waits is answered when the record's time is up, not left behind by it (E6). */
  const endAtExpiry = (task: Task): void => {
    const leftMs = expiresAt(task) - store.now();
    if (leftMs <= 0) end.resolve('ended');
    else expiry = clock.after(leftMs, () => endAtExpiry(task)); // the store's time may have gone back meanwhile
  };
  for (const source of [signal, closing]) {
    if (source?.aborted) onAbort();
    source?.addEventListener('abort', onAbort, { once: true });
  }
  return {
    outcome: end.promise,
    begin(task) {
      see(task);
      endAtExpiry(task);
      elapsed = clock.after(forMs, () => end.resolve('elapsed'));
    },
    stop() {
      unwatch();
      elapsed?.cancel();
      expiry?.cancel();
      for (const source of [signal, closing]) source?.removeEventListener('abort', onAbort);
    },
  };
}
