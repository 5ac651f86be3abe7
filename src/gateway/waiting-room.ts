import { createDeferred } from '../kernel/deferred.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { Plan } from './connection-plan.ts';

/** Somebody who waits for a connection. */
export interface Waiter<Place> {
  readonly plan: Plan;
  /** Whether the wait was given up meanwhile. */
  isGone(): boolean;
  resolve(place: Place): void;
  reject(error: unknown): void;
}

/** Who waits, per owner, first come first served: a call that needs a connection of its own is not starved. */
export interface WaitingRoom<Place> {
  /** Rejects when `signal` is aborted first. */
  enter(plan: Plan, signal: AbortSignal): Promise<Place>;
  first(owner: string): Waiter<Place> | undefined;
  leave(waiter: Waiter<Place>): void;
  owners(): readonly string[];
}

export function createWaitingRoom<Place>(): WaitingRoom<Place> {
  const queues = new Map<string, Waiter<Place>[]>();
  const leave = (waiter: Waiter<Place>): void => {
    const { owner } = waiter.plan;
    const left = (queues.get(owner) ?? []).filter((other) => other !== waiter);
    if (left.length > 0) queues.set(owner, left);
    else queues.delete(owner);
  };
  return {
    enter(plan, signal) {
      const place = createDeferred<Place>();
      let gone = signal.aborted;
      const waiter: Waiter<Place> = {
        plan,
        isGone: () => gone,
        resolve: place.resolve,
        reject: place.reject,
      };
      const giveUp = (): void => {
        gone = true;
        leave(waiter);
        place.reject(
          new LongcallError(
            'LONGCALL_CAPACITY',
            'the call was given up while it waited for a connection',
          ),
        );
      };
      if (gone) giveUp();
      else queues.set(plan.owner, [...(queues.get(plan.owner) ?? []), waiter]);
      signal.addEventListener('abort', giveUp, { once: true });
      return place.promise.finally(() => signal.removeEventListener('abort', giveUp));
    },
    first: (owner) => queues.get(owner)?.[0],
    leave,
    owners: () => Array.from(queues.keys()),
  };
}
