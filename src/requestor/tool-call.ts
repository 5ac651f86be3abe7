import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Random } from '../kernel/random.ts';
import type { AskKind, RpcError } from '../protocol/model.ts';
import type { UpstreamTask } from '../stores/attempts.ts';
import type { Attendance } from './attendance.ts';
import type { Connection } from './connection.ts';
import type { HeaderParam } from './header-params.ts';
import type { AskOwner } from './owner-questions.ts';
import type { SendFailure } from './wire.ts';

/** What a peer of 2025-11-25 says about tasks for one tool (G1-07). */
export const TASK_SUPPORTS = ['forbidden', 'optional', 'required'] as const;
export type TaskSupport = (typeof TASK_SUPPORTS)[number];

/** A call to a tool of a peer. */
export interface ToolCall {
  /** The peer's own name for it. */
  readonly name: string;
  readonly arguments: JsonObject;
  /** `_meta` members that pass through. */
  readonly meta: JsonObject;
  /** What may be asked in the middle of it. */
  readonly asks: readonly AskKind[];
  readonly taskSupport: TaskSupport;
  readonly headerParams: readonly HeaderParam[];
  readonly logLevel: string;
  /** How long a task of the peer should be kept. */
  readonly taskTtlMs: number;
  readonly resultBytesMax: number;
}

/** What happens on the way. None of these may throw. */
export interface CallHooks {
  /** Durable before the first byte; false: send nothing. */
  dispatched(): Promise<boolean>;
  journal(task: UpstreamTask): Promise<boolean>;
  ask: AskOwner;
  status(text: string): void;
}

/** A place on a connection. */
export interface Seat {
  readonly connection: Connection;
  readonly attendance: Attendance;
}

/** The way to the peer for the length of one call; a call that only observes may change connections. */
export interface Line {
  /**
   * The seat in use, or a new one where its connection has closed. Rejects where the peer cannot be reached, or `signal`
   * is aborted before there is one; without a signal the call's own decides.
   */
  seat(signal?: AbortSignal): Promise<Seat>;
  /** The connection in use has failed; the next seat is on another. */
  hangUp(): void;
  /** Questions about this task of the peer are this call's. */
  observe(taskId: string): void;
  /** Called when the peer says that the task has moved. */
  onNudge(listener: () => void): void;
}

export interface CallContext {
  readonly line: Line;
  readonly hooks: CallHooks;
  readonly call: ToolCall;
  /** Aborted when the call is given up. */
  readonly signal: AbortSignal;
  /** Whether an abort for this reason is passed on to the peer. */
  passesAbort(reason: unknown): boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * How a call ended, as far as this side can see. `fenced`: we were not the ones to make it any more. `stopped`: given
 * up by us. `peer_cancelled`: the peer cancelled its own task. `task_lost`: the peer does not know its task any more.
 */
export type ToolCallEnd =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: RpcError }
  | { readonly kind: 'peer_cancelled' | 'fenced' | 'stopped' }
  | { readonly kind: 'task_lost'; readonly problem: string }
  | SendFailure;
