import { parseDurationMs, formatDuration } from '../../kernel/durations.ts';
import { isJsonObject, objectAt, stringAt, type JsonObject } from '../../kernel/json.ts';
import { EFFECT_CLASSES } from '../../protocol/model.ts';
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
