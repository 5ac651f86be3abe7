import type { Clock, Timer } from '../kernel/clock.ts';
import type { Connection } from '../requestor/connection.ts';
import type { Plan } from './connection-plan.ts';

/** A connection in the pool and who uses it. */
export interface Slot {
  readonly connection: Connection;
  /** `undefined`: nobody's yet. Once set it stays. */
  owner: string | undefined;
  users: number;
  exclusive: boolean;
  /** How many things beside calls need it open. */
  pins: number;
  idle?: Timer;
}

export interface SlotsOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  /** A connection was given to its owner. */
  onOwned(slot: Slot): void;
  /** A connection is not in the pool any more. */
  onGone(slot: Slot, problem: string): void;
}

/** The connections of a pool. */
export interface Slots {
  add(connection: Connection): Slot;
  /** The connection that the plan can have now; nobody's is given to whoever needs it first. */
  find(plan: Plan): Slot | undefined;
  take(slot: Slot, plan: Plan): Slot;
  free(slot: Slot): void;
  /** Takes it out; the connection ends when it has nothing under way, at the latest after `drainMs`. */
  remove(slot: Slot, drainMs: number, problem: string): void;
  all(): readonly Slot[];
  ownedBy(owner: string): readonly Slot[];
}

export function createSlots(options: SlotsOptions): Slots {
  const slots = new Set<Slot>();
  const all = (): readonly Slot[] => Array.from(slots);
  const ownedBy = (owner: string | undefined): readonly Slot[] =>
    all().filter((slot) => slot.owner === owner);

  const leave = (slot: Slot, problem: string): void => {
    slot.idle?.cancel();
    if (slots.delete(slot)) options.onGone(slot, problem);
  };
  /** The last connection stays: it is how changes and the upstream's death are heard of. */
  const watchIdle = (slot: Slot): void => {
    slot.idle?.cancel();
    slot.idle = options.clock.after(options.idleMs, () => {
      if (slot.users > 0 || !slots.has(slot)) return;
      if (slot.pins > 0 || slots.size === 1) return watchIdle(slot);
      leave(slot, 'it was idle');
      slot.connection.closeWhenIdle(0);
    });
  };
  return {
    add(connection) {
      const slot: Slot = { connection, owner: undefined, users: 0, exclusive: false, pins: 0 };
      slots.add(slot);
      connection.onClosed((problem) => {
        leave(slot, problem);
        connection.closeWhenIdle(); // over HTTP, what is under way may still be answered
      });
      watchIdle(slot);
      return slot;
    },
    find(plan) {
      const own = ownedBy(plan.owner);
      const unused = [...own, ...ownedBy(undefined)].find((slot) => slot.users === 0);
      if (plan.exclusive) return unused;
      return own.find((slot) => slot.users > 0 && !slot.exclusive) ?? unused;
    },
    take(slot, plan) {
      slot.idle?.cancel();
      slot.users += 1;
      slot.exclusive = plan.exclusive;
      if (slot.owner === undefined) {
        slot.owner = plan.owner;
        options.onOwned(slot);
      }
      return slot;
    },
    free(slot) {
      slot.users -= 1;
      slot.exclusive = false;
      if (slot.users === 0 && slots.has(slot)) watchIdle(slot);
    },
    remove(slot, drainMs, problem) {
      leave(slot, problem);
      slot.connection.closeWhenIdle(drainMs);
    },
    all,
    ownedBy,
  };
}
