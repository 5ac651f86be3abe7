import type { JsonObject } from '../../kernel/json.ts';
import type { EffectClass } from '../../protocol/model.ts';
import type { TaskSupport } from '../../requestor/tool-call.ts';
import type { ToolMode } from '../../runtime/tool.ts';
import type { ToolPolicy } from '../options.ts';
import type { ToolRule, UpstreamConfig } from './config.ts';

/** A value and where it comes from, for people. */
interface Reasoned<Value> {
  readonly value: Value;
  readonly why: string;
}

/**
 * How a tool is served. The rule for the exact name wins over the one for `*`, key by key; an upstream's annotations
 * count only where they are trusted; what nobody says is task-optional and consequential (decision 6).
 */
export function policyOf(
  upstream: UpstreamConfig,
  toolName: string,
  hints: {
    readonly annotations?: JsonObject | undefined;
    readonly taskSupport?: TaskSupport | undefined;
  } = {},
): ToolPolicy {
  const exact = ruleFor(upstream, toolName);
  const wildcard = ruleFor(upstream, '*');
  const effect = effectOf({ exact, wildcard, upstream, annotations: hints.annotations });
  const mode = servableMode({
    mode: modeOf(exact, wildcard),
    effect: effect.value,
    taskSupport: hints.taskSupport,
  });
  const { artifacts, artifactAbove, ...numbers } = {
    ...upstream.toolDefaults,
    ...wildcard,
    ...exact,
  };
  return {
    ...numbers,
    ...(artifacts === 'on' && artifactAbove !== undefined ? { artifactAbove } : {}),
    inputExpiryMs: Math.min(numbers.inputExpiryMs, numbers.inputAllowanceMs),
    mode: mode.value,
    effect: effect.value,
    why: `mode: ${mode.why}; effect: ${effect.why}`,
  };
}

function ruleFor({ tools }: UpstreamConfig, name: string): ToolRule {
  return Object.hasOwn(tools, name) ? (tools[name] ?? {}) : {};
}

function modeOf(exact: ToolRule, wildcard: ToolRule): Reasoned<ToolMode> {
  if (exact.mode !== undefined) return { value: exact.mode, why: 'policy' };
  if (wildcard.mode !== undefined) return { value: wildcard.mode, why: 'policy for *' };
  return { value: 'task-optional', why: 'default' };
}

interface EffectInput {
  readonly exact: ToolRule;
  readonly wildcard: ToolRule;
  readonly upstream: UpstreamConfig;
  readonly annotations: JsonObject | undefined;
}

function effectOf({ exact, wildcard, upstream, annotations }: EffectInput): Reasoned<EffectClass> {
  if (exact.effect !== undefined) return { value: exact.effect, why: 'policy' };
  if (wildcard.effect !== undefined) return { value: wildcard.effect, why: 'policy for *' };
  const claimsRead = annotations?.['readOnlyHint'] === true;
  if (!upstream.trustAnnotations)
    return {
      value: 'consequential',
      why: claimsRead ? 'default, its readOnlyHint is not trusted' : 'default',
    };
  if (claimsRead) return { value: 'read', why: 'its readOnlyHint, trusted' };
  return { value: 'consequential', why: 'it has no readOnlyHint' };
}

interface ServableInput {
  readonly mode: Reasoned<ToolMode>;
  readonly effect: EffectClass;
  readonly taskSupport: TaskSupport | undefined;
}

/** Passing on unrecorded works for reads only (decision 5), and not where the upstream insists on a task (G1-09). */
function servableMode({ mode, effect, taskSupport }: ServableInput): Reasoned<ToolMode> {
  if (mode.value !== 'passthrough') return mode;
  if (effect !== 'read')
    return { value: 'refuse', why: `passthrough by ${mode.why}, refused because it is no read` };
  if (taskSupport === 'required')
    return { value: 'sync', why: `passthrough by ${mode.why}, but the upstream insists on a task` };
  return mode;
}
