import type { Principal } from '../identity/principal.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Operation } from '../ledger/operation.ts';
import type { TaskView } from '../protocol/codec.ts';
import type { AskKind, CallOrigin, InputAnswer, Task } from '../protocol/model.ts';
import type { OpenedArtifact } from './artifacts/keeper.ts';
import type { Feed } from './feed.ts';
import type { ServedTool } from './tool.ts';

/** A call to run: what the face has made of `tools/call`. */
export interface Call {
  readonly principal: Principal;
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  readonly origin: CallOrigin;
  readonly asks: readonly AskKind[];
  readonly progressToken?: string | number;
  /** 2025-11-25 only: what the caller asked for, in ms. Moves the retention, inside limits (decision 9). */
  readonly wantedTtlMs?: number;
  /** From `_meta` (`dev.longcall/idempotencyKey`), where the caller gave one; at most 128 bytes. */
  readonly idempotencyKey?: string;
  /** From `_meta` (`dev.longcall/newOperation`): the caller means another one, not a repeat (decision 4). */
  readonly newOperation?: boolean;
}

export type Started =
  /**
   * `deduplicated`: the call was made before, and this is its task, ended or not. By its `key`, or by the keyless
   * `guard`: then the caller is told how to ask for another one.
   */
  | { readonly kind: 'started'; readonly task: Task; readonly deduplicated?: RepeatedBy }
  /** The call was made before and its record is gone: the ledger's word is all there is. */
  | { readonly kind: 'known'; readonly operation: Operation; readonly by: RepeatedBy }
  /** The key was used with other arguments: nothing runs. */
  | { readonly kind: 'conflict'; readonly operationId?: string }
  /** The key is none: too long, empty, no text. */
  | { readonly kind: 'bad_key'; readonly problem: string }
  /** An argument cannot be kept as it was sent, so that the call could not be told from others (decision 4). */
  | { readonly kind: 'bad_arguments'; readonly problem: string }
  /** Too much is open: structured, retryable. `limit`: a key of OpenLimits, or the reason of the admission. */
  | { readonly kind: 'full'; readonly limit: string; readonly retryAfterMs: number }
  | { readonly kind: 'draining' };

/** What a repeated call was recognized by. */
export const REPEATED_BY = ['key', 'guard'] as const;
export type RepeatedBy = (typeof REPEATED_BY)[number];

/** What a bounded wait came to. */
export type Waited = 'ended' | 'asked' | 'elapsed' | 'aborted';

export interface WaitOptions {
  readonly forMs: number;
  readonly signal?: AbortSignal;
  /** Also end when the task asks something. */
  readonly untilAsked: boolean;
}

export type Answered =
  | {
      readonly kind: 'taken';
      readonly taken: readonly string[];
      readonly ignored: readonly string[];
      /** Of the ignored ones those that came too late: their question had expired unanswered (Q1). */
      readonly expired: readonly string[];
    }
  /** A live key got a value that no answer to it can be; nothing was consumed (T28). */
  | { readonly kind: 'malformed'; readonly key: string; readonly problem: string }
  | { readonly kind: 'missing' };

/** What a page can say about what its visitor did there. */
export const CONFIRMATION_ACTIONS = ['confirm', 'decline', 'cancel'] as const;

/** The word of a page (URL mode), given by the owner or by the page's server in the owner's name. */
export interface ConfirmationWord {
  readonly action: (typeof CONFIRMATION_ACTIONS)[number];
  /** What the page sends along; sealed at rest where its class asks for it, erased once it was used. */
  readonly content?: JsonObject;
}

export type Confirmed =
  | { readonly kind: 'confirmed' }
  /** Unknown, used, late, or somebody else's: not told apart (G1-61). */
  | { readonly kind: 'unknown' };

export type Cancelled =
  /** 2025: it is cancelled now. 2026: it will be. */
  | { readonly kind: 'cancelled'; readonly view: TaskView }
  | { readonly kind: 'already_ended'; readonly view: TaskView }
  | { readonly kind: 'missing' };

export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly nextCursor?: string;
}

export type Listed =
  { readonly kind: 'page'; readonly page: TaskPage } | { readonly kind: 'bad_cursor' };

/** Which of its tasks a caller is shown unasked. */
export type TaskFilter = (task: Pick<Task, 'upstream'>) => boolean;

/**
 * The receiving side: one record per long call, whatever face it came through. Every method takes the principal and
 * authorizes again; for a foreign id the answer is the unknown id's (G1-100, G2-125, T13).
 */
export interface Receiver {
  readonly feed: Feed;
  /** Admits, commits, wakes the engine. When it resolves the record is durable and its handle may go out (G2-27). */
  start(call: Call): Promise<Started>;
  view(principal: Principal, taskId: string, withOutcome: boolean): Promise<TaskView | undefined>;
  /** Nothing for an unknown, expired or foreign id, and without the scope that results need. */
  openArtifact(principal: Principal, artifactId: string): Promise<OpenedArtifact | undefined>;
  /**
   * An ended task's view for whoever has little room: its outcome takes up at most `maxBytes` of JSON (default 25 KB),
   * what is larger has become links with previews, and the whole of it is in artifacts. Never rejects for a full store:
   * then the previews are all there is, and say so.
   */
  presentBounded(view: TaskView, maxBytes?: number): Promise<TaskView>;
  /**
   * `ended` also where there is nothing to wait for: an unknown or foreign id, or the record's time is up (E6). Look
   * with `view` what it came to. `aborted` also when this process closes.
   */
  wait(principal: Principal, taskId: string, options: WaitOptions): Promise<Waited>;
  /**
   * The ledger's row of the call that a task was made for: the second answer, beside its status. Authorized like a read
   * of the task; nothing for reads.
   */
  operation(principal: Principal, taskId: string): Promise<Operation | undefined>;
  /**
   * Newest first. An empty page for principals without the scope, so that nothing can be told from it. Only tasks that
   * `shows` takes, all where it is absent; a page may have fewer of them than there are.
   */
  list(principal: Principal, cursor: string | undefined, shows?: TaskFilter): Promise<Listed>;
  answer(
    principal: Principal,
    taskId: string,
    answers: Readonly<Record<string, InputAnswer>>,
  ): Promise<Answered>;
  /**
   * The principal's own tasks that wait for answers, newest first, at most 100: to be shown again after a reconnect.
   * None where callers cannot be told apart.
   */
  asking(principal: Principal): Promise<readonly TaskView[]>;
  /** Single use; by the same principal only; until its deadline. */
  confirm(principal: Principal, token: string, word: ConfirmationWord): Promise<Confirmed>;
  /** The outcome provably reached its owner: from here on a repeat may mean a new call (decision 4). */
  delivered(taskId: string): Promise<void>;
  /** 2025 ends the record at once (G1-68); 2026 asks the run to stop and settles when it has, or at the grace's end. */
  cancel(principal: Principal, taskId: string, how: 'at-once' | 'cooperative'): Promise<Cancelled>;
  /** Cancels whoever's task it is, for the operator's door, which has recorded who asked. Follows the task's origin. */
  cancelAsOperator(taskId: string): Promise<Cancelled>;
  /** Whether other callers of this process wait on the same task, so that its work goes on when one of them leaves. */
  isShared(taskId: string): boolean;
  /** The handle was written to a caller that was still there. */
  handleGiven(taskId: string): Promise<void>;
  /** The call was answered without a handle. */
  answeredInline(taskId: string): Promise<void>;
  /**
   * The caller of a call without a handle went away or gave up. Nothing sent yet: the operation is abandoned and the
   * record ends. Sent: it finishes into the ledger unless `stopUpstream` asks to cancel it there. Nothing of it happens
   * while another caller waits on the same task.
   */
  abandon(taskId: string, options: AbandonOptions): Promise<void>;
}

export interface AbandonOptions {
  readonly stopUpstream: boolean;
  /** Leaves a dispatched call its handle: its owner can find it in a list and come back for it. */
  readonly keepHandle?: boolean;
}
