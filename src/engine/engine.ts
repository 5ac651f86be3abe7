import type { ClaimedAttempt } from '../stores/attempts.ts';

/** The place that a running attempt takes up among the slots of its process. */
export interface Slot {
  /** Gives the place up while the attempt waits for a person (decision 7). False: too much waits; it stays counted. */
  park(): boolean;
  /** Takes the place back, at once: what was started goes on, and new work waits in its stead. */
  unpark(): void;
}

/** Runs one claimed attempt to its end. Never rejects; what goes wrong is settled in the store. */
export type RunAttempt = (claimed: ClaimedAttempt, slot: Slot) => Promise<void>;

/** Delivers queued attempts to a runner. Wake-ups may get lost or come twice; leases and epochs keep it correct. */
export interface Engine {
  /** Starts claiming. Called once, after recovery. */
  start(run: RunAttempt): void;
  /** Something was queued: look soon. Cheap, may be called at any time. */
  wake(): void;
  /** Claims no more, waits up to `graceMs` for running attempts, then resolves. Leases are left to expire. */
  stop(graceMs: number): Promise<void>;
  /** How many attempts take up a slot of this process now. */
  runningCount(): number;
  /** How many attempts of this process wait for input and take up none. */
  parkedCount(): number;
}
