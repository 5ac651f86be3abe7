import type { JsonObject } from '../kernel/json.ts';
import type { Generation, InputRequest, Outcome, RpcError, Task } from './model.ts';

/** A task with what a reader may see beside it. `outcome` is present when the task has ended and was asked for. */
export interface TaskView {
  readonly task: Task;
  readonly outcome?: Outcome;
  /** Pending questions; those that this reader cannot be asked are left out. */
  readonly inputs: readonly InputRequest[];
}

/** What `tasks/result` of 2025-11-25 answers: a result or an error. */
export type ResultReply =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: RpcError };

/**
 * One generation's spelling of the neutral model. Pure: no I/O, no clock. A member that a generation does not have
 * is absent from its codec, so that nothing can be served by mistake.
 */
export interface WireCodec {
  readonly generation: Generation;
  /** The answer that hands out the handle (G1-25, G2-26). */
  encodeCreate(task: Task, options?: { readonly immediateResponse?: string }): JsonObject;
  /** The answer of `tasks/get` (G1-32, G2-38). */
  encodeTask(view: TaskView): JsonObject;
  /** Name and params of the status notification (G1-81, G2-96). */
  encodeNotification(view: TaskView): { readonly method: string; readonly params: JsonObject };
  /** The answer of an honoured `tasks/cancel` (G1-68, G2-87). */
  encodeCancelled(view: TaskView): JsonObject;
  /** An outcome as an ordinary answer of the originating request, without a task around it. */
  encodeInline(outcome: Outcome): ResultReply;
}

/** What only 2025-11-25 has. */
export interface Codec2025 extends WireCodec {
  readonly generation: '2025-11-25';
  /** The answer of `tasks/result` for an ended task (G1-35, G1-37, G1-39, T5). */
  encodeResult(view: TaskView): ResultReply;
  /** A page of `tasks/list` (G1-75, G1-76). */
  encodeList(tasks: readonly Task[], nextCursor?: string): JsonObject;
}

/** What only 2026-07-28 has. */
export interface Codec2026 extends WireCodec {
  readonly generation: '2026-07-28';
  /** The empty acknowledgement of `tasks/update` and `tasks/cancel` (G2-56, G2-87). */
  encodeAck(): JsonObject;
}
