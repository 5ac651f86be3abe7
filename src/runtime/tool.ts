import type { JsonObject } from '../kernel/json.ts';
import type { EffectClass, Task } from '../protocol/model.ts';

/** How a tool is served (architecture §5, the table of modes). */
export const TOOL_MODES = [
  'passthrough',
  'sync',
  'task-optional',
  'task-required',
  'refuse',
] as const;
export type ToolMode = (typeof TOOL_MODES)[number];

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
  /** Longest wait of a call that cannot take a handle. */
  readonly plainLimitMs: number;
  readonly runLimitMs: number;
  readonly inputAllowanceMs: number;
  readonly inputExpiryMs: number;
  readonly retentionMs: number;
  readonly pollIntervalMs: number;
  readonly concurrency: number;
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
