import type { Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { Connection } from '../requestor/connection.ts';
import { EVERYBODY, planFor, type Plan } from './connection-plan.ts';
import { createSlots, type Slot } from './connection-slots.ts';
import type { Sharing } from './options.ts';
import { createWaitingRoom, type Waiter } from './waiting-room.ts';

/** How long a connection that was given up may finish what it has under way. */
const DRAIN_MS = 10_000;

/** Wants a connection for one call. */
export interface LeaseRequest {
  readonly principalKey: string;
  /** Whether the upstream may ask something in the middle of it. */
  readonly mayAsk: boolean;
  readonly signal: AbortSignal;
}

/** A connection for the length of one call. Exactly one of `release` and `discard` ends it. */
export interface Lease {
  readonly connection: Connection;
  release(): void;
  /**
   * The call was given up: where it had the connection to itself, the connection ends too, since what the upstream may
   * still ask about that call must not reach the next one.
   */
  discard(): void;
  /** Keeps the connection from being closed as idle, until the returned function is called. */
  pin(): () => void;
}

export interface PoolOptions {
  readonly sharing: Sharing;
  readonly connectionsMax: number;
  readonly idleMs: number;
  readonly clock: Clock;
  open(): Promise<Connection>;
  /** A connection was given to its owner (EVERYBODY, or a principal's key), for as long as it lives. */
  onOwned(connection: Connection, owner: string): void;
  onGone(connection: Connection, problem: string): void;
}

/** All connections to one upstream (decision 8; docs/explanation/upstream-connections.md). */
export interface ConnectionPool {
  /** Takes a connection in that is nobody's yet: the first principal that needs one gets it. */
  adopt(connection: Connection): void;
  /** Rejects when the signal is aborted first, or where a connection that it needs cannot be opened. */
  lease(request: LeaseRequest): Promise<Lease>;
  connections(): readonly Connection[];
  /** EVERYBODY, a principal's key, or nobody's yet. */
  ownerOf(connection: Connection): string | undefined;
  close(graceMs: number): Promise<void>;
}

export function createConnectionPool(options: PoolOptions): ConnectionPool {
  const room = createWaitingRoom<Slot>();
  const opening: Plan[] = [];
  let peer: Pick<Connection, 'keepsState' | 'generation'> | undefined;
  const slots = createSlots({
    clock: options.clock,
    idleMs: options.idleMs,
    onOwned: ({ connection, owner }) => options.onOwned(connection, owner ?? EVERYBODY),
    onGone(slot, problem) {
      options.onGone(slot.connection, problem);
      if (slot.owner !== undefined) serve(slot.owner);
    },
  });

  const mayOpen = (plan: Plan): boolean => {
    const underWay = opening.filter(({ owner }) => owner === plan.owner);
    if (!plan.exclusive && underWay.some(({ exclusive }) => !exclusive)) return false; // that one will do for both
    return slots.ownedBy(plan.owner).length + underWay.length < plan.max;
  };
  const openFor = async (waiter: Waiter<Slot>): Promise<void> => {
    const { plan } = waiter;
    opening.push(plan);
    try {
      const slot = slots.add(await options.open());
      if (!waiter.isGone()) waiter.resolve(slots.take(slot, plan));
    } catch (error) {
      waiter.reject(error);
    } finally {
      opening.splice(opening.indexOf(plan), 1);
      serve(plan.owner);
    }
  };
  /** Serves those who wait, in their order. */
  const serve = (owner: string): void => {
    for (let waiter = room.first(owner); waiter; waiter = room.first(owner)) {
      const slot = slots.find(waiter.plan);
      if (!slot && !mayOpen(waiter.plan)) return;
      room.leave(waiter);
      if (slot) waiter.resolve(slots.take(slot, waiter.plan));
      else void openFor(waiter);
    }
  };
  const end = (slot: Slot, how: 'release' | 'discard'): void => {
    if (how === 'discard' && slot.exclusive) slots.remove(slot, DRAIN_MS, 'its call was given up');
    slots.free(slot);
    if (slot.owner !== undefined) serve(slot.owner);
  };
  return {
    adopt(connection) {
      peer = connection;
      slots.add(connection);
      room.owners().forEach(serve);
    },
    async lease({ signal, ...request }) {
      if (!peer) throw new LongcallError('LONGCALL_UPSTREAM_UNREACHABLE', 'it was never connected');
      const plan = planFor({ ...options, ...request, peer });
      const slot = room.enter(plan, signal);
      serve(plan.owner);
      return leaseOf(await slot, end);
    },
    connections: () => slots.all().map(({ connection }) => connection),
    ownerOf: (connection) => slots.all().find((slot) => slot.connection === connection)?.owner,
    async close(graceMs) {
      await Promise.all(slots.all().map(({ connection }) => connection.close(graceMs)));
    },
  };
}

function leaseOf(slot: Slot, end: (slot: Slot, how: 'release' | 'discard') => void): Lease {
  let open = true;
  const endOnce = (how: 'release' | 'discard') => (): void => {
    if (open) end(slot, how);
    open = false;
  };
  return {
    connection: slot.connection,
    release: endOnce('release'),
    discard: endOnce('discard'),
    pin() {
      let pinned = true;
      slot.pins += 1;
      return () => {
        if (pinned) slot.pins -= 1;
        pinned = false;
      };
    },
  };
}
