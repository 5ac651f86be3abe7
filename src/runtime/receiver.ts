import type { Principal } from '../identity/principal.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { TaskView } from '../protocol/codec.ts';
import type { AskKind, CallOrigin, InputAnswer, Task } from '../protocol/model.ts';
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
}

export type Started =
  | { readonly kind: 'started'; readonly task: Task }
  /** Too much is open: structured, retryable. `limit`: a key of OpenLimits, or the reason of the admission. */
  | { readonly kind: 'full'; readonly limit: string; readonly retryAfterMs: number }
  | { readonly kind: 'draining' };

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
    }
  /** A live key got a value that no answer to it can be; nothing was consumed (T28). */
  | { readonly kind: 'malformed'; readonly key: string; readonly problem: string }
  | { readonly kind: 'missing' };

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

/**
 * The receiving side: one record per long call, whatever face it came through. Every method takes the principal and
 * authorizes again; for a foreign id the answer is the unknown id's (G1-100, G2-125, T13).
 */
export interface Receiver {
  readonly feed: Feed;
  /** Admits, commits, wakes the engine. When it resolves the record is durable and its handle may go out (G2-27). */
  start(call: Call): Promise<Started>;
  view(principal: Principal, taskId: string, withOutcome: boolean): Promise<TaskView | undefined>;
  /**
   * `ended` also where there is nothing to wait for: an unknown or foreign id, or the record's time is up (E6). Look
   * with `view` what it came to. `aborted` also when this process closes.
   */
  wait(principal: Principal, taskId: string, options: WaitOptions): Promise<Waited>;
  /** Newest first. An empty page for principals without the scope, so that nothing can be told from it. */
  list(principal: Principal, cursor: string | undefined): Promise<Listed>;
  answer(
    principal: Principal,
    taskId: string,
    answers: Readonly<Record<string, InputAnswer>>,
  ): Promise<Answered>;
  /** 2025 ends the record at once (G1-68); 2026 asks the run to stop and settles when it has, or at the grace's end. */
  cancel(principal: Principal, taskId: string, how: 'at-once' | 'cooperative'): Promise<Cancelled>;
  /** Cancels whoever's task it is, for the operator's door, which has recorded who asked. Follows the task's origin. */
  cancelAsOperator(taskId: string): Promise<Cancelled>;
  /** The handle was written to a caller that was still there. */
  handleGiven(taskId: string): Promise<void>;
  /** The call was answered without a handle. */
  answeredInline(taskId: string): Promise<void>;
  /**
   * The caller of a call without a handle went away or gave up. Nothing sent yet: the operation is abandoned and the
   * record ends. Sent: it finishes into the ledger unless `stopUpstream` asks to cancel it there.
   */
  abandon(taskId: string, options: { readonly stopUpstream: boolean }): Promise<void>;
}
