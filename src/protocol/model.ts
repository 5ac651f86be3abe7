import type { Json, JsonObject } from '../kernel/json.ts';

/** The two protocol generations that have Tasks, by the version string they negotiate. */
export const GENERATIONS = ['2025-11-25', '2026-07-28'] as const;
export type Generation = (typeof GENERATIONS)[number];

/** How a call was asked for. `plain`: without Tasks, so no handle of it ever leaves. `job`: by job tools or over REST. */
export const CALL_ORIGINS = [...GENERATIONS, 'plain', 'job'] as const;
export type CallOrigin = (typeof CALL_ORIGINS)[number];

/** The status words, which both generations share. */
export const TASK_STATUSES = [
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** What is stored instead of a status. `ended` says nothing about how: that is the ending's word. */
export const TASK_PHASES = ['working', 'input_required', 'ended'] as const;
export type TaskPhase = (typeof TASK_PHASES)[number];

/** A JSON-RPC error object, exactly as it goes over the wire. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** What the originating request came to. The status is a function of this and of the reader's generation. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: RpcError }
  | { readonly kind: 'cancelled' };

/** An outcome without its body: enough for every status. `tool_error` is a result with `isError: true`. */
export const TASK_ENDINGS = ['result', 'tool_error', 'error', 'cancelled'] as const;
export type TaskEnding = (typeof TASK_ENDINGS)[number];

export function endingOf(outcome: Outcome): TaskEnding {
  if (outcome.kind === 'result')
    return outcome.result['isError'] === true ? 'tool_error' : 'result';
  return outcome.kind;
}

/** What a caller can be asked in the middle of a call, as its creating request declared. */
export const ASK_KINDS = ['elicitation-form', 'elicitation-url', 'sampling', 'roots'] as const;
export type AskKind = (typeof ASK_KINDS)[number];

/** The handle's fate. `pending`: not written yet. `given`: it left. `inline`: the call was answered without one. */
export const HANDLE_STATES = ['pending', 'given', 'inline'] as const;
export type HandleState = (typeof HANDLE_STATES)[number];

/** What a tool may do to the world. Pinned at create; everything about crashes follows from it. */
export const EFFECT_CLASSES = ['read', 'reversible', 'consequential'] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

/**
 * The protocol's record of one long request. Times are ms since the epoch by the store's clock.
 * A call that is answered inline has one too: it is what survives a death in mid-call.
 */
export interface Task {
  readonly id: string;
  /** The principal's binding key: who may read, answer and cancel. */
  readonly owner: string;
  readonly tenant: string;
  readonly origin: CallOrigin;
  readonly handle: HandleState;
  readonly upstream: string;
  /** The tool's name as callers see it (with its upstream's prefix). */
  readonly tool: string;
  readonly effect: EffectClass;
  readonly phase: TaskPhase;
  /** Present exactly when `phase` is `ended`. */
  readonly ending?: TaskEnding;
  /** Sanitized, at most 200 characters. */
  readonly message?: string;
  readonly createdAt: number;
  /** Moves with status and message, never back, never on reads (T16). */
  readonly updatedAt: number;
  /** Retention from `createdAt`, fixed at create; after it the record is as good as gone (T6, E3). */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly asks: readonly AskKind[];
  readonly cancelRequestedAt?: number;
  /** The operation in the ledger; absent for reads. */
  readonly operationId?: string;
  /** Its handler keeps a journal: after a death finished steps are replayed and the rest goes on (decision 6). */
  readonly journalled?: boolean;
  /** Grows by one with each change of the row. */
  readonly revision: number;
}

export const expiresAt = (task: Pick<Task, 'createdAt' | 'ttlMs'>): number =>
  task.createdAt + task.ttlMs;

/** What the call was, kept to run it: never shown in status, lists or logs. */
export interface TaskRequest {
  readonly arguments: JsonObject;
  /** `_meta` members of other prefixes than the protocol's: they pass through (decision 17). */
  readonly meta: JsonObject;
  /** Declared by the creating request, 2025-11-25 only; valid until the task ends (G1-140). */
  readonly progressToken?: string | number;
  /** The caller's own name for who asks, for handlers that have to know; the task's owner is what counts. */
  readonly subject?: string;
}

/** One question of a task to its owner. `method` and `params` are those of the standalone request. */
export const INPUT_METHODS = [
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
] as const;
export type InputMethod = (typeof INPUT_METHODS)[number];

/** `confirming`: the owner went to the page; only the page's own word counts now (G1-52). */
export const INPUT_STATES = ['pending', 'confirming', 'answered', 'withdrawn', 'expired'] as const;
export type InputState = (typeof INPUT_STATES)[number];

/** What a field of a question holds, the most sensitive last. The last three never go through a form (G1-50). */
export const FIELD_CLASSES = ['public', 'personal', 'secret', 'payment', 'credential'] as const;
export type FieldClass = (typeof FIELD_CLASSES)[number];

/** What becomes of a question that nobody answered in time. `default` is never an accept of something consequential. */
export const EXPIRY_OUTCOMES = ['fail', 'default', 'cancel'] as const;
export type ExpiryOutcome = (typeof EXPIRY_OUTCOMES)[number];

/** How a question is treated, declared by who asks. */
export interface InputPolicy {
  /** By field name; what is not named is `personal`. */
  readonly fields: Readonly<Record<string, FieldClass>>;
  /** Fields that a model may answer (decision 8); all others go to the person. */
  readonly answerableByModel: readonly string[];
  readonly onExpiry: ExpiryOutcome;
  /** The content that `default` stands for. */
  readonly defaultContent?: JsonObject;
  /** Whether saying yes to it lets something happen: then `default` never accepts it. */
  readonly approval: boolean;
}

export interface InputRequest {
  readonly taskId: string;
  /** Unique for the task's lifetime, never used again (G2-48, G2-50). */
  readonly key: string;
  readonly method: InputMethod;
  readonly params: JsonObject;
  readonly state: InputState;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Absent where an upstream asks: then every field is `personal` and expiry fails. */
  readonly policy?: InputPolicy;
}

/** A client's answer to one input request: the standalone request's result, or its error. */
export type InputAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: RpcError };

/** The kind of permission an input request needs from the creating request (G2-59, G1-48). */
export function askKindOf(method: InputMethod, params: JsonObject): AskKind {
  if (method === 'sampling/createMessage') return 'sampling';
  if (method === 'roots/list') return 'roots';
  return params['mode'] === 'url' ? 'elicitation-url' : 'elicitation-form';
}
