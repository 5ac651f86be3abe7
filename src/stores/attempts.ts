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

/** `parked`: waits in the store for an answer or a time, and costs no worker (decision 7). */
export const ATTEMPT_STATES = ['parked', 'queued', 'running', 'ended'] as const;
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
  /** Why it ended, in one word; `parked` where its handler went to sleep in good order. */
  readonly endReason?: string;
  /** How long it has run without its waits, in ms, as it said last: what it has used of the run limit. */
  readonly ranMs?: number;
}

/** What a parked attempt waits for, at least one of both: whichever comes first. */
export interface WakeUp {
  readonly nextAttemptId: string;
  /** When no question of the task is open any more: neither pending nor confirming. */
  readonly onAnswers: boolean;
  /** By the store's clock. */
  readonly at?: number;
  /** How long the attempt has run without its waits, in ms. */
  readonly ranMs?: number;
}

export interface ClaimedAttempt {
  readonly attempt: Attempt;
  readonly task: Task;
  /** Absent where what is stored of it cannot be read: nothing can run, and its task has to be ended. */
  readonly request?: TaskRequest;
}

/** One that can run. */
export type RunnableAttempt = Required<ClaimedAttempt>;

export interface ClaimAttempts {
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** Most running attempts per front tool name. */
  readonly runningPerTool: Readonly<Record<string, number>>;
  /** The same for each tool that is not named there; no cap where absent. */
  readonly runningPerOtherTool?: number;
  /** Upstreams that nobody can reach from here now: their tasks go on waiting in the queue. */
  readonly exceptUpstreams?: readonly string[];
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
  /** `ranMs`: how long it has run so far without its waits; a death loses what came after the last one. */
  extend(fence: Fence, leaseMs: number, ranMs?: number): Promise<boolean>;
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
  /**
   * Ends the attempt with the reason `parked` and stores the next one, which keeps the place in the queue, carries the
   * journalled upstream task, and is queued when its wake-up comes: at once where that has happened already, or where
   * its owner wants the task stopped. One transaction, so that no answer falls between (Q3).
   */
  park(fence: Fence, wakeUp: WakeUp): Promise<boolean>;
  /** Queues up to `limit` parked attempts whose time has come, and says how many. */
  wakeDue(limit: number): Promise<number>;
  /** When the next parked attempt is due, by the store's clock. */
  nextWakeAt(): Promise<number | undefined>;
  /** Attempts of one task, oldest first. */
  listOf(taskId: string): Promise<readonly Attempt[]>;
  queuedCount(): Promise<number>;
}
