import { policyOf } from '../gateway/config/policy.ts';
import type { GatewayConfig, ToolRule } from '../gateway/config/config.ts';
import type { PolicyOf } from '../gateway/options.ts';
import { LongcallError } from '../kernel/errors.ts';
import { invariant } from '../kernel/invariant.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { IdempotencyPolicy } from '../runtime/tool.ts';
import { ruleOf } from './settings.ts';
import type { ToolRules } from './tool-options.ts';

/** How a tool came to us. `adopted`: its handler is the author's own and knows nothing of us. */
export type ToolOrigin = 'journalled' | 'adopted';

interface KnownTool {
  readonly origin: ToolOrigin;
  readonly rules: ToolRules;
  readonly rule: ToolRule;
  readonly idempotency?: IdempotencyPolicy;
}

export interface ToolEntry {
  readonly name: string;
  readonly origin: ToolOrigin;
  readonly rules: ToolRules;
  readonly idempotency?: IdempotencyPolicy;
}

/**
 * What the author has said of tools. A factory is called for each connection and says it again each time, so that the
 * same words are no news; other words are a mistake, since calls of both kinds may be under way.
 */
export interface ToolBook {
  enter(entry: ToolEntry): void;
  readonly policyOf: PolicyOf;
  originOf(name: string): ToolOrigin | undefined;
  adopted(): readonly string[];
}

export function createToolBook(config: GatewayConfig): ToolBook {
  const [upstream] = config.upstreams;
  invariant(upstream !== undefined, 'the author’s server stands in the configuration');
  const known = new Map<string, KnownTool>();
  return {
    enter({ name, origin, rules, idempotency }) {
      const before = known.get(name);
      if (before && (before.origin !== origin || !isSame(before.rules, rules)))
        throw new LongcallError(
          'LONGCALL_LIBRARY_USAGE',
          `"${name}" is said to be served in two ways; a factory must say the same for every connection`,
        );
      const rule = before?.rule ?? ruleOf(name, rules);
      known.set(name, { origin, rules, rule, ...(idempotency && { idempotency }) });
    },
    policyOf(name, annotations, taskSupport) {
      const own = known.get(name);
      const tools = own
        ? { ...upstream.tools, [name]: { ...upstream.tools[name], ...own.rule } }
        : upstream.tools;
      const policy = policyOf({ ...upstream, tools }, name, { annotations, taskSupport });
      return {
        ...policy,
        ...(own?.origin === 'journalled' && { journalled: true }),
        ...(own?.idempotency && { idempotency: { ...policy.idempotency, ...own.idempotency } }),
      };
    },
    originOf: (name) => known.get(name)?.origin,
    adopted: () =>
      Array.from(known).flatMap(([name, { origin }]) => (origin === 'adopted' ? [name] : [])),
  };
}

const isSame = (a: ToolRules, b: ToolRules): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Where the key of a call comes from, as the record of starts wants it. */
export function idempotencyOf(
  given: readonly string[] | ((args: never) => string | undefined) | undefined,
): { readonly idempotency?: IdempotencyPolicy } {
  if (given === undefined) return {};
  if (typeof given !== 'function') return { idempotency: { from: given } };
  return { idempotency: { derive: (args: JsonObject) => given(args as never) } };
}
