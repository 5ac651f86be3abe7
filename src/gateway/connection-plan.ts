import type { Connection } from '../requestor/connection.ts';
import type { Sharing } from './options.ts';

/** The owner of connections that all principals share. */
export const EVERYBODY = '*';

/** What kind of connection a call needs. */
export interface Plan {
  /** A principal's key, or EVERYBODY. */
  readonly owner: string;
  /** Nobody else on it meanwhile. */
  readonly exclusive: boolean;
  /** Most connections of this owner. */
  readonly max: number;
}

export interface PlanInput {
  readonly principalKey: string;
  /** Whether the upstream may ask something in the middle of the call. */
  readonly mayAsk: boolean;
  readonly sharing: Sharing;
  readonly connectionsMax: number;
  /** What a connection to this upstream is like. */
  readonly peer: Pick<Connection, 'keepsState' | 'generation'>;
}

/**
 * Decision 8 as a function. Questions of 2026-07-28 come as the answer to the call that they belong to, and a peer
 * that keeps no state asks on the call's own stream: neither needs a connection of its own.
 */
export function planFor({ principalKey, mayAsk, sharing, connectionsMax, peer }: PlanInput): Plan {
  if (!peer.keepsState) return { owner: EVERYBODY, exclusive: false, max: 1 };
  const asksOnConnection = mayAsk && peer.generation !== '2026-07-28';
  switch (sharing) {
    case 'auto':
      return { owner: principalKey, exclusive: asksOnConnection, max: connectionsMax };
    case 'per-call':
      return { owner: principalKey, exclusive: true, max: connectionsMax };
    case 'per-principal':
      return { owner: principalKey, exclusive: asksOnConnection, max: 1 };
    case 'shared':
      return { owner: EVERYBODY, exclusive: asksOnConnection, max: 1 };
  }
}
