import type { ArtifactSetting } from '../gateway/config/config.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { EffectClass } from '../protocol/model.ts';
import type { Fallback } from '../runtime/job-tools.ts';
import type { JobContext } from '../runtime/steps/context.ts';
import type { ToolMode } from '../runtime/tool.ts';
import type { ArgumentSchema, ArgumentsOf } from './schemas.ts';

/** `500ms`, `20s`, `15m`, `2h`, `7d`, or a number of ms. */
export type Duration = string | number;

/** How a tool is served, in the words of a tool's rule in longcall.yaml; what is left out has its default. */
export interface ToolRules {
  /** What the tool may do to the world; decides what happens after a crash. */
  readonly effect?: EffectClass;
  readonly mode?: ToolMode;
  /** How long a caller that can take a handle is kept for the plain answer; 0: not at all. */
  readonly syncWindow?: Duration;
  /** Longest wait of a caller that cannot take a handle. */
  readonly plainLimit?: Duration;
  /** Longest run; waiting for people is counted apart. */
  readonly runLimit?: Duration;
  /** Time for questions, over the whole call. */
  readonly inputAllowance?: Duration;
  /** How long one question stays open. */
  readonly inputExpiry?: Duration;
  /** How long the record stays after the latest moment at which its run could end. */
  readonly retention?: Duration;
  readonly pollInterval?: Duration;
  /** As `syncWindow`, for a caller without Tasks that gets a handle for job tools. */
  readonly jobWindow?: Duration;
  /** What callers without Tasks get, in order of preference. */
  readonly fallback?: readonly Fallback[];
  /** How long after delivery a consequential call without a key is still taken for the same one. */
  readonly repeatWindow?: Duration;
  /** Most running calls of the tool. */
  readonly concurrency?: number;
  /** Most calls of the tool that wait for a place. */
  readonly queued?: number;
  /** Whether what is large in its results becomes artifacts, with links in its place. */
  readonly artifacts?: ArtifactSetting;
  /** Arguments that may name an artifact instead of carrying its content. */
  readonly artifactArguments?: readonly string[];
  /** Where the key of a call comes from, in the words of longcall.yaml. */
  readonly idempotency?: { readonly argument?: string; readonly from?: readonly string[] };
  /** 2026-07-28: whether its questions are asked before the handle leaves, as rounds of the call. */
  readonly roundsFirst?: boolean;
}

/** Where the key of a call comes from (decision 4): arguments by name, or a function of the arguments as they were sent. */
export type IdempotencyKey<Arguments> =
  readonly (keyof Arguments & string)[] | ((args: Arguments) => string | undefined);

/** A tool of an author: what the SDK lists of it, and how longcall serves it. */
export interface ToolOptions<
  Input extends ArgumentSchema | undefined = undefined,
> extends ToolRules {
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: Input;
  /** Checked by the SDK, on the final result only. */
  readonly outputSchema?: ArgumentSchema;
  readonly annotations?: object;
  readonly icons?: readonly object[];
  readonly _meta?: Readonly<Record<string, unknown>>;
  readonly effect: EffectClass;
  /** Two calls with the same key are one call. */
  readonly idempotencyKey?: IdempotencyKey<ArgumentsOf<Input>>;
}

/** The result of a tool as the protocol has it. Without `content` the structured content stands there as text. */
export interface ToolResult {
  readonly content?: readonly object[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/**
 * What a handler returns: text, a result, or nothing. An object without `content` and `structuredContent` is structured
 * content.
 */
export type HandlerAnswer = string | ToolResult | object | void;

/** The work of a tool. It runs again from its beginning after a restart; what it did in named steps is not done again. */
export type Handler<Input extends ArgumentSchema | undefined = undefined> = (
  args: ArgumentsOf<Input>,
  job: JobContext,
) => HandlerAnswer | Promise<HandlerAnswer>;

/** A handler as it is kept, its types forgotten. */
export type AnyHandler = (args: JsonObject, job: JobContext) => unknown;

/** What of a definition is about serving; a key that is none is left in, for the configuration to refuse. */
export function rulesOf(options: ToolOptions<ArgumentSchema | undefined>): ToolRules {
  const {
    title: _title,
    description: _description,
    inputSchema: _inputSchema,
    outputSchema: _outputSchema,
    annotations: _annotations,
    icons: _icons,
    _meta,
    idempotencyKey: _idempotencyKey,
    ...rules
  } = options;
  return rules;
}
