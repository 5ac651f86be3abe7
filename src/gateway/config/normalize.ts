import { resolve } from 'node:path';
import { isLoopback } from './address.ts';
import { TOOL_DEFAULTS, UPSTREAM_DEFAULTS } from './defaults.ts';
import { parseDurationMs } from '../../kernel/durations.ts';
import { invariant } from '../../kernel/invariant.ts';
import type {
  GatewayConfig,
  ToolDefaults,
  ToolRule,
  UpstreamConfig,
  UpstreamEndpoint,
} from './config.ts';
import { defaultPrefix } from './rules.ts';
import type { ConfigFile, UpstreamEntry } from './schema.ts';

export interface NormalizeInput {
  readonly file: ConfigFile;
  readonly acceptAnonymousNetwork: boolean;
  /** The folder that paths are meant from, by where the value at `path` was written. */
  folderOf(path: readonly string[]): string;
}

/** From the words of the file to the program's own. */
export function normalize({
  file,
  acceptAnonymousNetwork,
  folderOf,
}: NormalizeInput): GatewayConfig {
  const { listen, identity, limits, retention } = file;
  const tokens =
    identity.tokens === undefined
      ? {}
      : { tokens: resolve(folderOf(['identity', 'tokens']), identity.tokens) };
  const allowAnonymous =
    acceptAnonymousNetwork || (isLoopback(listen.mcp.host) && identity.tokens === undefined);
  return {
    data: resolve(folderOf(['data']), file.data),
    store: file.store,
    listen,
    identity: { local: identity.local, allowAnonymous, ...tokens },
    upstreams: upstreamsOf(file, folderOf(['upstreams'])),
    jobTools: file.jobTools,
    limits: {
      openPerPrincipal: limits.perPrincipal.open,
      openPerTenant: limits.perTenant.open,
      bytesPerPrincipal: limits.perPrincipal.bytes,
      bytesPerTenant: limits.perTenant.bytes,
      openTotal: limits.queue,
      queueTimeMs: limits.queueTime,
      runningPerTool: limits.perTool.running,
      resultBytes: limits.result.hard,
      artifactAboveBytes: limits.result.artifactAbove,
      artifacts: {
        eachBytes: limits.artifacts.each,
        perPrincipalBytes: limits.artifacts.perPrincipal,
        perTenantBytes: limits.artifacts.perTenant,
        totalBytes: limits.artifacts.total,
      },
      requestBytes: limits.request,
      statusReads: limits.statusReads,
    },
    retention: {
      tasksMs: retention.tasks,
      anonymousMs: retention.anonymous,
      artifactsMs: retention.artifacts,
      ledgerMs: retention.ledger,
      auditMs: retention.audit,
    },
    engine: { mode: file.engine.mode, idleExitMs: file.engine.idleExit },
    redact: file.redact,
    log: file.log,
  };
}

function upstreamsOf(file: ConfigFile, cwd: string): readonly UpstreamConfig[] {
  const entries = Object.entries(file.upstreams);
  const toolDefaults = toolDefaultsOf(file);
  return entries.map(([name, entry]) => ({
    name,
    endpoint: endpointOf(entry, cwd),
    prefix: entry.prefix ?? defaultPrefix(name, entries.length > 1),
    trustAnnotations: entry.trustAnnotations ?? UPSTREAM_DEFAULTS.trustAnnotations,
    connections: entry.connections ?? UPSTREAM_DEFAULTS.connections,
    connectionsMax: entry.connectionsMax ?? UPSTREAM_DEFAULTS.connectionsMax,
    tools: Object.fromEntries(
      Object.entries(entry.tools ?? {}).map(([tool, rule]) => [tool, ruleOf(rule)]),
    ),
    toolDefaults,
  }));
}

function endpointOf({ command, url, env, headers }: UpstreamEntry, cwd: string): UpstreamEndpoint {
  if (url !== undefined) return { kind: 'http', url, headers: headers ?? {} };
  const [program, ...args] = command ?? [];
  invariant(program !== undefined, 'a checked upstream has a command or a url');
  return { kind: 'stdio', command: program, args, env: env ?? {}, cwd };
}

function toolDefaultsOf({ retention, limits }: ConfigFile): ToolDefaults {
  return {
    syncWindowMs: defaultMs('syncWindow'),
    jobWindowMs: defaultMs('jobWindow'),
    plainLimitMs: defaultMs('plainLimit'),
    runLimitMs: defaultMs('runLimit'),
    inputAllowanceMs: defaultMs('inputAllowance'),
    inputExpiryMs: defaultMs('inputExpiry'),
    retentionMs: retention.tasks,
    pollIntervalMs: defaultMs('pollInterval'),
    repeatWindowMs: defaultMs('repeatWindow'),
    concurrency: limits.perTool.running,
    queueMax: limits.perTool.queued,
    artifactAbove: limits.result.artifactAbove,
  };
}

function defaultMs(key: keyof typeof TOOL_DEFAULTS): number {
  const ms = parseDurationMs(TOOL_DEFAULTS[key]);
  invariant(ms !== undefined, `the default of ${key} is a duration`);
  return ms;
}

type ToolEntry = NonNullable<UpstreamEntry['tools']>[string];

function ruleOf(entry: ToolEntry): ToolRule {
  const renamed = {
    mode: entry.mode,
    effect: entry.effect,
    syncWindowMs: entry.syncWindow,
    jobWindowMs: entry.jobWindow,
    fallback: entry.fallback,
    plainLimitMs: entry.plainLimit,
    runLimitMs: entry.runLimit,
    inputAllowanceMs: entry.inputAllowance,
    inputExpiryMs: entry.inputExpiry,
    retentionMs: entry.retention,
    pollIntervalMs: entry.pollInterval,
    repeatWindowMs: entry.repeatWindow,
    idempotency: entry.idempotency,
    concurrency: entry.concurrency,
    queueMax: entry.queued,
    roundsFirst: entry.roundsFirst,
    artifacts: entry.artifacts,
    artifactArguments: entry.artifactArguments,
  };
  return Object.fromEntries(
    Object.entries(renamed).filter(([, value]) => value !== undefined),
  ) as ToolRule;
}
