import type { JsonObject } from '../../../kernel/json.ts';

/** A message that was sent. */
export interface Sent {
  /** A resumption will not bring it any more. What has reached the client cannot be taken back. */
  takeBack(): void;
}

/**
 * A way to one client for messages that it did not ask for one by one: the event stream of a POST, the GET stream, or
 * the pipe of stdio. Each message goes to exactly one lane (G1-84).
 */
export interface Lane {
  /** Whether somebody reads it now. */
  isOpen(): boolean;
  /** Writes it, or keeps it for a resumption where the lane may come back. */
  send(message: JsonObject): Sent;
  /** Calls back when the lane opens or closes; returns the way to stop. */
  onTurn(listener: () => void): () => void;
}

/** Listeners of a lane's turns. */
export interface Turns {
  tell(): void;
  readonly onTurn: Lane['onTurn'];
}

export function createTurns(): Turns {
  const listeners = new Set<() => void>();
  return {
    tell: () => Array.from(listeners).forEach((listener) => listener()),
    onTurn(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
