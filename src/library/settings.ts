import { checkLayers } from '../gateway/config/check.ts';
import type { GatewayConfig, ToolRule } from '../gateway/config/config.ts';
import { DEFAULTS } from '../gateway/config/defaults.ts';
import { createPlainLayer } from '../gateway/config/layers.ts';
import { normalize } from '../gateway/config/normalize.ts';
import { ConfigInvalidError, type ConfigProblem } from '../gateway/config/problems.ts';
import type { LogFormat, LogLevel } from '../gateway/config/config.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { JobToolsSetting } from '../runtime/job-tools.ts';
import type { ToolRules } from './tool-options.ts';

/** The name of the author's server where a configuration names upstreams. */
export const SERVER = 'server';

/**
 * What holds for the whole server, in the words and with the defaults of longcall.yaml: docs/reference/configuration.md
 * describes each key.
 */
export interface Settings {
  /** Directory of the store, the lock, keys and tokens; of one process at a time. Default: `./longcall-data`. */
  readonly data?: string;
  /** Static bearer tokens, and whether the local token counts. Does nothing beside `identify`. */
  readonly identity?: { readonly local?: boolean; readonly tokens?: string };
  /** Names accepted in `Host` and `Origin` beside the loopback names. */
  readonly allowedHosts?: readonly string[];
  /** Serves the operators' API there, for `longcall tasks`, `ops` and `doctor`: `127.0.0.1:8788`. Default: nowhere. */
  readonly admin?: string;
  /** Whether callers without Tasks are given handles and tools to go on with: `on` (the default), `off`, `only-when-needed`. */
  readonly jobTools?: JobToolsSetting;
  /** As `redact` of longcall.yaml. */
  readonly redact?: JsonObject;
  /** As `limits` of longcall.yaml. */
  readonly limits?: JsonObject;
  /** As `retention` of longcall.yaml. */
  readonly retention?: JsonObject;
  /** Default level: `warn`. Written to standard error. */
  readonly log?: { readonly level?: LogLevel; readonly format?: LogFormat };
  /** Rules by tool name, `*` for all: the place for tools that the author's code does not name. */
  readonly tools?: Readonly<Record<string, ToolRules>>;
}

/** The configuration of a process whose one upstream is the author's server. Throws ConfigInvalidError. */
export function configOf({
  tools = {},
  admin,
  allowedHosts,
  log,
  ...rest
}: Settings): GatewayConfig {
  const rules = Object.fromEntries(
    Object.entries(tools).map(([name, rule]) => [name, documentOf(rule)]),
  );
  const listen = present({ admin, allowedHosts: allowedHosts && [...allowedHosts] });
  // What is no setting is refused like an unknown key of a file: left out, a slip in `identify` would let everybody in.
  const said: Readonly<Record<string, Json | undefined>> = {
    ...(rest as JsonObject),
    listen,
    log: { level: 'warn', ...log },
  };
  return read({ ...present(said), ...withTools(rules) });
}

/** One tool's rule, with what `settings` say of all tools. Throws ConfigInvalidError. */
export function ruleOf(name: string, rules: ToolRules): ToolRule {
  const config = read(withTools({ [name]: documentOf(rules) }));
  return config.upstreams[0]?.tools[name] ?? {};
}

/** The author's server stands in the place of an upstream; that it is reached in this process is not configured. */
const withTools = (tools: JsonObject): JsonObject => ({
  upstreams: { [SERVER]: { command: ['in this process'], trustAnnotations: true, tools } },
});

function read(said: JsonObject): GatewayConfig {
  const layers = [createPlainLayer(DEFAULTS, () => 'default'), createPlainLayer(said, () => '')];
  const { file, problems } = checkLayers(layers, { acceptAnonymousNetwork: false, earlier: [] });
  if (!file) throw new ConfigInvalidError(problems.map(inOwnWords));
  return normalize({ file, acceptAnonymousNetwork: false, folderOf: () => process.cwd() });
}

/** Options have no upstreams and no `listen`: what is wrong is named as the author wrote it. */
const inOwnWords = (problem: ConfigProblem): ConfigProblem => ({
  ...problem,
  path: problem.path.replace(`upstreams.${SERVER}.`, '').replace(/^listen\./, ''),
});

/** Numbers that are no durations. */
const COUNTS: readonly string[] = ['concurrency', 'queued'];

/** Durations in ms are said as durations. */
function documentOf(rules: ToolRules): JsonObject {
  const said = Object.entries(rules).map(([key, value]): [string, Json | undefined] => [
    key,
    typeof value === 'number' && value !== 0 && !COUNTS.includes(key)
      ? `${value}ms`
      : (value as Json | undefined),
  ]);
  return present(Object.fromEntries(said));
}

const present = (members: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
