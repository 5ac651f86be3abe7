import type { JsonObject } from '../kernel/json.ts';
import type { EffectClass, Task } from '../protocol/model.ts';
import type { Fallback } from './job-tools.ts';

/** How a tool is served (architecture §5, the table of modes). */
export const TOOL_MODES = [
  'passthrough',
  'sync',
  'task-optional',
  'task-required',
  'refuse',
] as const;
export type ToolMode = (typeof TOOL_MODES)[number];

export interface IdempotencyPolicy {
  /** An optional argument that is added to the listed schema and taken off before the tool sees it. */
  readonly argument?: string;
  /** The tool itself has an argument of that name: it is read as the key and passed on. */
  readonly keepArgument?: boolean;
  /** Arguments whose values together are the key. */
  readonly from?: readonly string[];
  /** Makes the key from the arguments as they were sent; where it throws the call is refused, and nothing runs. */
  readonly derive?: (args: JsonObject) => string | undefined;
}

/** A tool as longcall serves it: the upstream's definition joined with policy. All durations in ms. */
export interface ServedTool {
  /** The name callers use: the upstream's prefix and its own name. */
  readonly name: string;
  readonly upstream: string;
  readonly upstreamName: string;
  readonly mode: ToolMode;
  readonly effect: EffectClass;
  /** Where mode and effect come from, one line for people. */
  readonly why: string;
  /** How long a caller that can take a handle afterwards is kept waiting for the plain answer; 0: not at all. */
  readonly syncWindowMs: number;
  /** The same where the handle is one for job tools; default 15 s, at most 20 s. */
  readonly jobWindowMs?: number;
  /** What callers without Tasks get, in order of preference; default: job tools, or a refusal where tasks are required. */
  readonly fallback?: readonly Fallback[];
  /** Longest wait of a call that cannot take a handle. */
  readonly plainLimitMs: number;
  readonly runLimitMs: number;
  readonly inputAllowanceMs: number;
  readonly inputExpiryMs: number;
  readonly retentionMs: number;
  readonly pollIntervalMs: number;
  readonly concurrency: number;
  /** Most calls of it that wait for a place; above it a start is refused. Absent: the general limits alone. */
  readonly queueMax?: number;
  /** Its handler keeps a journal (`runtime/steps`): pinned at create like the effect class. */
  readonly journalled?: boolean;
  /** Where its idempotency key comes from, beside `_meta` (decision 4). */
  readonly idempotency?: IdempotencyPolicy;
  /**
   * How long after its outcome was delivered a call without a key is still taken for the same one, where the tool is
   * consequential. Default 10 min; 0: until delivery only.
   */
  readonly repeatWindowMs?: number;
  /** Results above so many bytes become artifacts. Absent: exactly as produced, up to the hard limit. */
  readonly artifactAbove?: number;
  /** Arguments that may name an artifact (`longcall://artifacts/…`) instead of carrying its bytes. */
  readonly artifactArguments?: readonly string[];
  /**
   * 2026-07-28: its questions are asked as rounds of the call (`InputRequiredResult`) before the handle leaves, where
   * the caller can be asked (G2-30). Otherwise a question makes the handle leave, and becomes the task's.
   */
  readonly roundsFirst?: boolean;
  /** The definition as the upstream lists it, its name replaced; unknown members kept. */
  readonly definition: JsonObject;
}

/**
 * The tool that a task was made for, as its upstream serves it now. What another upstream has under the same name is
 * another tool: a call must not take effect there, nor its task's id be asked for there.
 */
export type ToolOf = (task: Pick<Task, 'tool' | 'upstream' | 'effect'>) => ServedTool | undefined;
