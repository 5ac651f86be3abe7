import { formatDuration, parseDurationMs, parseSizeBytes } from '../../kernel/durations.ts';
import { isJsonObject, objectAt, stringAt, type JsonObject } from '../../kernel/json.ts';
import { EFFECT_CLASSES } from '../../protocol/model.ts';
import { FALLBACKS, type Fallback } from '../../runtime/job-tools.ts';
import { TOOL_MODES } from '../../runtime/tool.ts';
import { isLoopback, parseAddress } from './address.ts';
import { TOOL_DEFAULTS } from './defaults.ts';
import type { ConfigPath } from './problems.ts';

/** A broken rule, before it is known where it was written. */
export interface Finding {
  readonly path: ConfigPath;
  readonly message: string;
  readonly at: 'key' | 'value';
  /** Set where nothing but the flag for it can make it right. */
  readonly unsafe?: boolean;
}

/** What a queue, a run, its questions and the time after it may come to (architecture §7). */
export const TASK_LIFE_MS_MAX = 30 * 86_400_000;

export interface RuleInput {
  /** The merged document, possibly malformed: rules look at what they understand and leave the rest to the schema. */
  readonly data: JsonObject;
  readonly acceptAnonymousNetwork: boolean;
}

/** Rules over several keys. */
export function brokenRules({ data, acceptAnonymousNetwork }: RuleInput): readonly Finding[] {
  const upstreams = objectAt(data, 'upstreams') ?? {};
  return [
    ...anyUpstream(data),
    ...Object.entries(upstreams).flatMap(([name, entry]) =>
      isJsonObject(entry)
        ? [...endpointRules(name, entry), ...toolRules({ name, entry, data })]
        : [],
    ),
    ...uniquePrefixes(upstreams),
    ...artifactSizes(data),
    ...(acceptAnonymousNetwork ? [] : identityBeyondLoopback(data)),
  ];
}

function anyUpstream(data: JsonObject): readonly Finding[] {
  const upstreams = data['upstreams'];
  const none =
    upstreams === undefined || (isJsonObject(upstreams) && Object.keys(upstreams).length === 0);
  return none
    ? [
        {
          path: ['upstreams'],
          message: 'name at least one server, or start with --upstream',
          at: 'key',
        },
      ]
    : [];
}

function endpointRules(name: string, entry: JsonObject): readonly Finding[] {
  const path = ['upstreams', name];
  const has = (key: string): boolean => entry[key] !== undefined;
  const findings: Finding[] = [];
  if (has('command') === has('url'))
    findings.push({
      path,
      message: has('url') ? 'has both command and url; keep one' : 'needs command or url',
      at: 'key',
    });
  if (has('env') && !has('command'))
    findings.push({
      path: [...path, 'env'],
      message: 'goes with command, not with url',
      at: 'key',
    });
  if (has('headers') && !has('url'))
    findings.push({
      path: [...path, 'headers'],
      message: 'goes with url, not with command',
      at: 'key',
    });
  const url = stringAt(entry, 'url');
  const wrong = url === undefined ? undefined : urlProblem(url);
  return wrong === undefined
    ? findings
    : [...findings, { path: [...path, 'url'], message: wrong, at: 'value' }];
}

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://tools.example/mcp';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'must start with http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must not carry a password; use headers';
  return undefined;
}

interface ToolRuleInput {
  readonly name: string;
  readonly entry: JsonObject;
  readonly data: JsonObject;
}

function toolRules({ name, entry, data }: ToolRuleInput): readonly Finding[] {
  const tools = objectAt(entry, 'tools') ?? {};
  const wildcard = objectAt(tools, '*') ?? {};
  return Object.entries(tools).flatMap(([tool, own]) => {
    if (!isJsonObject(own)) return [];
    const path = ['upstreams', name, 'tools', tool];
    const rule = { ...wildcard, ...own };
    return [
      ...passthroughRule({ path, own, rule, trusted: entry['trustAnnotations'] === true }),
      ...fallbackRule({ path, own, rule }),
      ...artifactRule({ path, own, rule }),
      ...idempotencyRule({ path, own, rule }),
      ...lifeRule({ path, rule, data }),
    ];
  });
}

interface PassthroughInput {
  readonly path: ConfigPath;
  readonly own: JsonObject;
  readonly rule: JsonObject;
  readonly trusted: boolean;
}

/** One claim per effect holds for all routes, so what is passed on unrecorded must be a read (decision 5). */
function passthroughRule({ path, own, rule, trusted }: PassthroughInput): readonly Finding[] {
  const effect = stringAt(rule, 'effect') ?? (trusted ? 'read' : 'consequential');
  const isEffect = (EFFECT_CLASSES as readonly string[]).includes(effect);
  if (rule['mode'] !== 'passthrough' || effect === 'read' || !isEffect) return [];
  const said = own['mode'] === undefined && own['effect'] !== undefined ? 'effect' : 'mode';
  const why = rule['effect'] === undefined ? ' (which is what holds where nothing is said)' : '';
  const message = `passthrough is for reads only, and the effect here is ${effect}${why}; use sync, or effect: read`;
  return [{ path: own[said] === undefined ? path : [...path, said], message, at: 'value' }];
}

const ARTIFACT_KEYS = ['artifacts', 'artifactArguments'] as const;

/** What is passed on unrecorded has nobody whose artifacts it could be, or take. */
function artifactRule({ path, own, rule }: Omit<PassthroughInput, 'trusted'>): readonly Finding[] {
  if (rule['mode'] !== 'passthrough') return [];
  const wants = (key: string): boolean => rule[key] !== undefined && rule[key] !== 'off';
  return ARTIFACT_KEYS.filter(wants).map((key) => ({
    path: own[key] === undefined ? path : [...path, key],
    message: `passthrough keeps no record, so it has no ${key}; use mode: sync`,
    at: 'value',
  }));
}

/** Sizes that no artifact, or no result, could ever have. */
function artifactSizes(data: JsonObject): readonly Finding[] {
  const limits = objectAt(data, 'limits');
  const bytesAt = (path: readonly [string, string]): number | undefined => {
    const text = stringAt(objectAt(limits, path[0]), path[1]);
    return text === undefined ? undefined : parseSizeBytes(text);
  };
  const ordered = [
    [
      ['result', 'artifactAbove'],
      ['result', 'hard'],
    ],
    [
      ['artifacts', 'each'],
      ['artifacts', 'perPrincipal'],
    ],
    [
      ['artifacts', 'perPrincipal'],
      ['artifacts', 'perTenant'],
    ],
    [
      ['artifacts', 'perTenant'],
      ['artifacts', 'total'],
    ],
  ] as const;
  return ordered.flatMap(([small, large]) => {
    const [less, more] = [bytesAt(small), bytesAt(large)];
    if (less === undefined || more === undefined || less <= more) return [];
    const message = `must not be more than limits.${large.join('.')}`;
    return [{ path: ['limits', ...small], message, at: 'value' as const }];
  });
}

/** What each mode can fall back to, and which mode says the other thing. */
const FALLBACKS_OF = {
  'task-optional': { can: ['job-tools', 'sync'], instead: 'mode: task-required refuses them' },
  'task-required': { can: ['job-tools', 'refuse'], instead: 'mode: task-optional serves them' },
} as const satisfies Readonly<
  Record<string, { readonly can: readonly Fallback[]; readonly instead: string }>
>;

/** A way that the mode rules out would be ignored, and so would be a promise. */
function fallbackRule({ path, own, rule }: Omit<PassthroughInput, 'trusted'>): readonly Finding[] {
  const { fallback } = own;
  const mode = stringAt(rule, 'mode') ?? 'task-optional';
  if (!Array.isArray(fallback) || !TOOL_MODES.some((known) => known === mode)) return [];
  const problem =
    mode === 'task-optional' || mode === 'task-required'
      ? impossibleWay(mode, fallback)
      : `${mode} answers callers without Tasks like all others; leave it out`;
  return problem === undefined
    ? []
    : [{ path: [...path, 'fallback'], message: problem, at: 'value' }];
}

function impossibleWay(
  mode: keyof typeof FALLBACKS_OF,
  ways: readonly unknown[],
): string | undefined {
  const { can, instead } = FALLBACKS_OF[mode];
  const known = FALLBACKS.filter((way) => ways.includes(way));
  return known.every((way) => (can as readonly Fallback[]).includes(way))
    ? undefined
    : `${mode} can fall back to ${can.join(' and ')} only; ${instead}`;
}

type IdempotencyInput = Pick<PassthroughInput, 'path' | 'own' | 'rule'>;

/** A key needs a record to be remembered by, and has to come from somewhere. */
function idempotencyRule({ path, own, rule }: IdempotencyInput): readonly Finding[] {
  const keyed = objectAt(rule, 'idempotency');
  if (!keyed) return [];
  const problem = idempotencyProblem(keyed, rule['mode']);
  const said = own['idempotency'] === undefined ? path : [...path, 'idempotency'];
  return problem === undefined ? [] : [{ path: said, message: problem, at: 'value' }];
}

function idempotencyProblem({ argument, from }: JsonObject, mode: unknown): string | undefined {
  if (mode === 'passthrough')
    return 'passthrough keeps no record to know a key by; use sync, or leave it out';
  if (argument === undefined && from === undefined) return 'needs argument or from';
  if (!Array.isArray(from)) return undefined;
  if (from.includes(argument))
    return 'argument and from name the same argument: it cannot be taken off and be looked at';
  return new Set(from).size < from.length ? 'from names an argument twice' : undefined;
}

interface LifeInput {
  readonly path: ConfigPath;
  readonly rule: JsonObject;
  readonly data: JsonObject;
}

function lifeRule({ path, rule, data }: LifeInput): readonly Finding[] {
  const retention = rule['retention'] ?? objectAt(data, 'retention')?.['tasks'];
  const parts = [
    rule['runLimit'] ?? TOOL_DEFAULTS.runLimit,
    rule['inputAllowance'] ?? TOOL_DEFAULTS.inputAllowance,
    retention,
  ];
  const totalMs = parts.reduce<number>(
    (sum, part) => sum + (typeof part === 'string' ? (parseDurationMs(part) ?? 0) : 0),
    0,
  );
  if (totalMs <= TASK_LIFE_MS_MAX) return [];
  const message = `runLimit, inputAllowance and retention come to ${formatDuration(totalMs)}; at most 30d together`;
  return [{ path, message, at: 'key' }];
}

/** Names of tools must lead to one upstream. */
function uniquePrefixes(upstreams: JsonObject): readonly Finding[] {
  const several = Object.keys(upstreams).length > 1;
  const seen = new Map<string, string>();
  return Object.entries(upstreams).flatMap(([name, entry]) => {
    const prefix =
      (isJsonObject(entry) ? stringAt(entry, 'prefix') : undefined) ?? defaultPrefix(name, several);
    const other = seen.get(prefix);
    seen.set(prefix, other ?? name);
    if (other === undefined) return [];
    const message = `"${prefix}" is the prefix of ${other} already; each upstream needs its own`;
    return [{ path: ['upstreams', name, 'prefix'], message, at: 'value' as const }];
  });
}

/** One upstream keeps its names; of several each gets its own prefix. */
export const defaultPrefix = (name: string, several: boolean): string =>
  several ? `${name}_` : '';

function identityBeyondLoopback(data: JsonObject): readonly Finding[] {
  const mcp = parseAddress(stringAt(objectAt(data, 'listen') ?? {}, 'mcp') ?? '');
  if (!mcp || isLoopback(mcp.host) || objectAt(data, 'identity')?.['tokens'] !== undefined)
    return [];
  const message =
    `${mcp.host} can be reached by others and nobody would be asked who they are; ` +
    'set identity.tokens, or start with --i-accept-anonymous-network';
  return [{ path: ['listen', 'mcp'], message, at: 'value', unsafe: true }];
}
