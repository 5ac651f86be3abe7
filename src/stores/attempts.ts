import type { Generation, Task, TaskRequest } from '../protocol/model.ts';

/** Proof of holding a lease: writes of an attempt whose epoch has passed are refused. */
export interface Fence {
  readonly taskId: string;
  readonly attemptId: string;
  readonly epoch: number;
}

/** The upstream's own task for this call, journalled so that a restart goes on observing it. Never leaves. */
export interface UpstreamTask {
  readonly generation: Generation;
  readonly taskId: string;
  readonly pollIntervalMs?: number;
  /** Input keys that were already handed to our caller, by the upstream's key. */
  readonly relayedKeys?: readonly string[];
}

export const ATTEMPT_STATES = ['queued', 'running', 'ended'] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** One execution of a task's handler by one process. */
export interface Attempt {
  readonly id: string;
  readonly taskId: string;
  /** 1 for the first. */
  readonly number: number;
  /** Grows with each claim of the task; what carries an older one is fenced out. */
  readonly epoch: number;
  readonly state: AttemptState;
  /** Boot id of the process that holds it. */
  readonly owner?: string;
  readonly leaseUntil?: number;
  /** When the first byte was about to go upstream; absent: nothing was sent. */
  readonly dispatchedAt?: number;
  readonly upstreamTask?: UpstreamTask;
}

export interface ClaimedAttempt {
  readonly attempt: Attempt;
  readonly task: Task;
  readonly request: TaskRequest;
}

export interface ClaimAttempts {
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** Most running attempts per front tool name. */
  readonly runningPerTool: Readonly<Record<string, number>>;
  /** The same for each tool that is not named there; no cap where absent. */
  readonly runningPerOtherTool?: number;
}

/** A running attempt whose process is known to be dead, or whose lease has passed. */
export interface OrphanedAttempt {
  readonly attempt: Attempt;
  readonly task: Task;
}

/** Attempts with lease and epoch. Every write names its fence; a fenced-out write answers false and changes nothing. */
export interface AttemptStore {
  /**
   * Takes queued attempts in order of their tasks' age, fair among principals, and starts their leases. At most 200
   * in one call; tasks whose time is up are left to be ended.
   */
  claim(params: ClaimAttempts): Promise<readonly ClaimedAttempt[]>;
  extend(fence: Fence, leaseMs: number): Promise<boolean>;
  /**
   * Durable before the first byte goes upstream; moves the operation to `dispatched` in the same transaction. Marking
   * twice changes nothing; false once the task has ended.
   */
  markDispatched(fence: Fence): Promise<boolean>;
  journalUpstream(fence: Fence, upstreamTask: UpstreamTask): Promise<boolean>;
  /**
   * Ends the attempt without settling its task and queues the next one, in one transaction. The next one carries the
   * journalled upstream task, not `dispatchedAt`, and keeps the place in the queue.
   */
  requeue(fence: Fence, nextAttemptId: string, reason: string): Promise<boolean>;
  /**
   * Attempts left running by others than `owner`. With `othersAreDead` (an exclusive lock proves it) at once,
   * otherwise only those whose lease has passed (R5). Their epochs are raised: the dead can write no more, and the
   * fence of the attempt as returned here is the one that holds.
   */
  listOrphaned(owner: string, othersAreDead: boolean): Promise<readonly OrphanedAttempt[]>;
  /** Attempts of one task, oldest first. */
  listOf(taskId: string): Promise<readonly Attempt[]>;
  queuedCount(): Promise<number>;
}
