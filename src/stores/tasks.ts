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
  readonly claim?: StartClaim;
  readonly guard?: RepeatGuard;
}

/**
 * A start under an idempotency key (decision 4). Taken in the create transaction; a create that is refused leaves none.
 * Of a read it goes with the task's record, of an effect it stays with the ledger.
 */
export interface StartClaim {
  /** Keyed hash over principal, upstream, tool and key. */
  readonly keyHash: string;
  /** Versioned fingerprint of tool and arguments. */
  readonly fingerprint: string;
}

/** The keyless guard: a repeat of a consequential call is the existing one until its outcome was delivered, and a while. */
export interface RepeatGuard {
  readonly fingerprint: string;
  readonly afterDeliveryMs: number;
}

/**
 * What may be open or kept at once, checked inside the create transaction. Bytes are those of requests and outcomes of
 * all records that are kept, ended ones too, with 1 KiB for the rows of each: a count of open tasks does not bound
 * them (I4, E4). Only creates are refused; an outcome is always taken.
 */
export interface OpenLimits {
  readonly perPrincipal: number;
  readonly perTenant: number;
  readonly total: number;
  readonly bytesPerPrincipal?: number;
  readonly bytesPerTenant?: number;
  readonly bytesTotal?: number;
  /** Calls of this tool that wait for a place; running and parked ones do not count. */
  readonly queuedOfTool?: number;
  /** How many of this tool may run at once: so many are about to start instead of waiting. Default 0. */
  readonly placesOfTool?: number;
}

export type CreatedTask =
  | { readonly kind: 'created'; readonly task: Task }
  | { readonly kind: 'full'; readonly limit: keyof OpenLimits; readonly open: number }
  /**
   * The call was made before: nothing new runs. `task` while its record lives; the operation where there is one.
   * Work of which nothing happened (absent, abandoned) is no such call: it is created anew, on the same operation. Nor
   * is a read that ended without its tool's answer.
   */
  | {
      readonly kind: 'existing';
      readonly by: 'key' | 'guard';
      readonly task?: Task;
      readonly operation?: Operation;
    }
  /** The key was used with other arguments. */
  | { readonly kind: 'conflict'; readonly operationId?: string };

/** What can keep a task from being ended by somebody else than its attempt (decision 1). */
export const SETTLE_OBSTACLES = ['dispatched', 'given'] as const;
export type SettleObstacle = (typeof SETTLE_OBSTACLES)[number];

/**
 * Ends a task. First terminal write wins; a late one leaves its trace at the operation only (decision 15), and only
 * where that was dispatched: an `intended` operation of a requeued task is not abandoned by a fenced-out attempt.
 * The same transaction ends every parked, queued or running attempt of the task, withdraws its open inputs (`ended`),
 * and erases their answers. Effects of it that have no receipt by then are unknown (`no_receipt`) until one comes.
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
  /**
   * Moves the handle from `pending` to where it went, and from `inline` to `given` where a repeat takes it. Never from
   * `given` back: then the record comes back unchanged.
   */
  setHandle(taskId: string, handle: Exclude<HandleState, 'pending'>): Promise<Task | undefined>;
  /** Marks that its owner wants it stopped, and queues what is parked, so that it can stop. Nothing where it is foreign, unknown or expired; an ended one unchanged. */
  requestCancel(access: Access, taskId: string): Promise<Task | undefined>;
  /**
   * Deletes up to `limit` (at most 200 in one call) expired records that have ended, with all that hangs on them; never
   * an operation (S11). A record with a long journal takes more than one call.
   */
  sweepExpired(limit: number): Promise<number>;
  /**
   * The owner provably had the outcome; the first time counts. Noted at the operation (decision 4). A death may lose
   * it: then a repeat is taken for the same call for longer.
   */
  markDelivered(taskId: string): Promise<void>;
  /** Bytes that are kept, of a principal, of a tenant, of all: as OpenLimits counts them. */
  keptBytes(of: { readonly owner: string; readonly tenant: string }): Promise<KeptBytes>;
  /** Ids of open tasks whose time is up: the runtime ends them before they go (E1, E2). */
  listOverdue(limit: number): Promise<readonly string[]>;
  counts(): Promise<TaskCounts>;
}

export interface KeptBytes {
  readonly ofPrincipal: number;
  readonly ofTenant: number;
  readonly total: number;
}

export interface TaskCounts {
  readonly working: number;
  readonly inputRequired: number;
  readonly ended: number;
}
