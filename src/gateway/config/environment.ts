import type { Json, JsonObject } from '../../kernel/json.ts';
import { DEFAULTS } from './defaults.ts';
import { createPlainLayer, type Layer } from './layers.ts';
import { pathText, type ConfigPath } from './problems.ts';
import { upstreamsFromTexts } from './upstream-text.ts';
import type { Environment } from './yaml-source.ts';

/** Paths that have a variable: every default, and what has none but is a single value. */
const VARIABLE_PATHS: readonly ConfigPath[] = [
  ...scalarPaths(DEFAULTS, []),
  ['identity', 'tokens'],
];

function scalarPaths(value: unknown, path: ConfigPath): readonly ConfigPath[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, member]) => scalarPaths(member, [...path, key]));
}

/** `limits.perTool.running` → `LONGCALL_LIMITS_PER_TOOL_RUNNING`. */
export function variableOf(path: ConfigPath): string {
  const words = path.map((step) =>
    String(step)
      .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
      .toUpperCase(),
  );
  return `LONGCALL_${words.join('_')}`;
}

/** The names of all variables that set a value of the configuration. */
export const CONFIG_VARIABLES: readonly string[] = [
  ...VARIABLE_PATHS.map(variableOf),
  'LONGCALL_UPSTREAM',
];

/** What the environment says. An empty variable says nothing. */
export function environmentLayer(env: Environment): Layer {
  const said = VARIABLE_PATHS.flatMap((path) => {
    const text = env[variableOf(path)];
    return text === undefined || text === '' ? [] : [{ path, value: valueOf(path, text) }];
  });
  const upstream = env['LONGCALL_UPSTREAM'];
  const upstreams: JsonObject = upstream ? { upstreams: upstreamsFromTexts([upstream]) } : {};
  const data = said.reduce<JsonObject>(
    (merged, { path, value }) => setAt(merged, path, value),
    upstreams,
  );
  return createPlainLayer(
    data,
    (path) => `env ${path[0] === 'upstreams' ? 'LONGCALL_UPSTREAM' : nearestVariable(path)}`,
  );
}

function nearestVariable(path: ConfigPath): string {
  const full = pathText(path);
  const named = VARIABLE_PATHS.find(
    (known) => full === pathText(known) || full.startsWith(`${pathText(known)}.`),
  );
  return variableOf(named ?? path);
}

/** Text becomes what the default's kind is: a number, a truth value, a list by commas; else it stays. */
function valueOf(path: ConfigPath, text: string): Json {
  const model = path.reduce<unknown>(
    (value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key],
    DEFAULTS,
  );
  if (typeof model === 'number' && /^\d+$/.test(text)) return Number(text);
  if (typeof model === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  if (Array.isArray(model)) return text.split(',').map((item) => item.trim());
  return text;
}

/** A copy with one value set, mappings made on the way. */
export function setAt(data: JsonObject, path: ConfigPath, value: Json): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return data;
  const under = data[key];
  const below =
    typeof under === 'object' && under !== null && !Array.isArray(under)
      ? (under as JsonObject)
      : {};
  return { ...data, [key]: rest.length === 0 ? value : setAt(below, rest, value) };
}
