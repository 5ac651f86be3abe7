import type { Operation } from '../ledger/operation.ts';
import type { CallEnd } from '../ledger/operation.ts';
import type { HandleState, Outcome, Task, TaskRequest } from '../protocol/model.ts';
import type { Access } from './access.ts';
import type { Fence } from './attempts.ts';

/** A task as its creator knows it; ids are made before the commit, times are the store's. */
export type NewTask = Omit<
  Task,
  'phase' | 'ending' | 'message' | 'createdAt' | 'updatedAt' | 'cancelRequestedAt' | 'revision'
>;

/** The ledger's row for a call that is no read. */
export type NewOperation = Pick<Operation, 'id' | 'effect' | 'argumentsDigest'>;

export interface CreateTask {
  readonly task: NewTask;
  readonly request: TaskRequest;
  readonly operation?: NewOperation;
  readonly attemptId: string;
  readonly limits: OpenLimits;
}

/** How many tasks that have not ended may be open at once, checked inside the create transaction. */
export interface OpenLimits {
  readonly perPrincipal: number;
  readonly perTenant: number;
  readonly total: number;
}

export type CreatedTask =
  | { readonly kind: 'created'; readonly task: Task }
  | { readonly kind: 'full'; readonly limit: keyof OpenLimits; readonly open: number };

/** What can keep a task from being ended by somebody else than its attempt (decision 1). */
export const SETTLE_OBSTACLES = ['dispatched', 'given'] as const;
export type SettleObstacle = (typeof SETTLE_OBSTACLES)[number];

/**
 * Ends a task. First terminal write wins; a late one leaves its trace at the operation only (decision 15), and only
 * where that was dispatched: an `intended` operation of a requeued task is not abandoned by a fenced-out attempt.
 * The same transaction ends every queued or running attempt of the task and withdraws its pending inputs (`ended`).
 * An overdue record that is not swept yet can be ended: that is how its work is stopped before it goes (E1, E2).
 */
export interface SettleTask {
  readonly taskId: string;
  readonly outcome: Outcome;
  /** Sanitized by the caller; absent clears the message, so that no early progress text survives (P5). */
  readonly message?: string;
  /** The attempt that settles. Absent: not the attempt's own doing (cancel, expiry of a limit, recovery). */
  readonly fence?: Fence;
  /** What the ledger learns from this. */
  readonly callEnd: CallEnd;
  /** One word why, for the event and the operation. */
  readonly reason: string;
  /**
   * Facts that leave the record as it is, checked in the same transaction; the first of them that holds is named.
   * `dispatched`: an attempt of this task has marked its first byte. `given`: the handle left. Absent: none does.
   */
  readonly unless?: readonly SettleObstacle[];
}

export type SettledTask =
  | { readonly kind: 'settled'; readonly task: Task }
  /** It is still open, because one of `unless` holds. Nothing was changed. */
  | { readonly kind: 'kept'; readonly task: Task; readonly because: SettleObstacle }
  /** It had ended before, or the attempt is fenced out: the record stays as it is. */
  | { readonly kind: 'late'; readonly task: Task }
  | { readonly kind: 'missing' };

/** Keyset position: the list is ordered newest first by (createdAt, id) (T14). */
export interface TaskPosition {
  readonly createdAt: number;
  readonly id: string;
}

export interface ListTasks {
  readonly after?: TaskPosition;
  /** 1 to 200. */
  readonly limit: number;
  /** Only tasks whose handle left or may be on its way: what its owner can know of. Operators see all. */
  readonly withHandle: boolean;
  readonly phase?: 'open' | 'ended';
  readonly tool?: string;
  /** An operator's filter; an owner's list is bound by its access already. */
  readonly tenant?: string;
  /** Only ids that begin with this, compared byte by byte (no wildcards). For operators, who type the start of one. */
  readonly idPrefix?: string;
}

/**
 * Task records. All methods agree on one logical expiry by the store's time: an expired record is not there,
 * swept or not (E3). Open work that is overdue is hidden from its owner and still there for `system`, which ends it.
 * Each method is one transaction; a resolved promise means durable. Where the disk failed in the middle of a COMMIT,
 * the rejection (LONGCALL_STORE_FAILED, LONGCALL_STORE_FULL) carries `data.written: 'unknown'` instead of `'no'`: read
 * the record by its id before anything is answered (decision 1).
 */
export interface TaskStore {
  create(params: CreateTask): Promise<CreatedTask>;
  get(access: Access, taskId: string): Promise<Task | undefined>;
  /** The outcome's body; nothing while the task runs, or where the record is foreign, unknown or expired. */
  outcome(access: Access, taskId: string): Promise<Outcome | undefined>;
  request(taskId: string): Promise<TaskRequest | undefined>;
  list(access: Access, params: ListTasks): Promise<readonly Task[]>;
  /** Also ends overdue work. What comes after the record was swept is `missing`, and still reaches the operation. */
  settle(params: SettleTask): Promise<SettledTask>;
  /** Sets the status message of a running task; an ended one is left alone. */
  setMessage(fence: Fence, message: string): Promise<Task | undefined>;
  /** Moves the handle from `pending` to where it went. Never from `given` back: then the record comes back unchanged. */
  setHandle(taskId: string, handle: Exclude<HandleState, 'pending'>): Promise<Task | undefined>;
  /** Marks that its owner wants it stopped. Nothing where it is foreign, unknown or expired; an ended one unchanged. */
  requestCancel(access: Access, taskId: string): Promise<Task | undefined>;
  /** Deletes up to `limit` (at most 200 in one call) expired records that have ended, with all that hangs on them; never an operation (S11). */
  sweepExpired(limit: number): Promise<number>;
  /** Ids of open tasks whose time is up: the runtime ends them before they go (E1, E2). */
  listOverdue(limit: number): Promise<readonly string[]>;
  counts(): Promise<TaskCounts>;
}

export interface TaskCounts {
  readonly working: number;
  readonly inputRequired: number;
  readonly ended: number;
}
