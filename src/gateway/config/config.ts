import type { EffectClass } from '../../protocol/model.ts';
import type { JobToolsSetting } from '../../runtime/job-tools.ts';
import type { ToolMode } from '../../runtime/tool.ts';
import type { Sharing, ToolPolicy } from '../options.ts';

/**
 * The configuration as the program uses it: everything present, durations in ms, sizes in bytes, paths absolute.
 * docs/reference/configuration.md describes the file it comes from.
 */
export interface GatewayConfig {
  /** Directory of the store, the lock, keys and tokens. */
  readonly data: string;
  readonly store: 'sqlite';
  readonly listen: ListenConfig;
  readonly identity: IdentityConfig;
  /** In the order of the file; at least one. */
  readonly upstreams: readonly UpstreamConfig[];
  readonly jobTools: JobToolsSetting;
  readonly limits: LimitsConfig;
  readonly retention: RetentionConfig;
  readonly engine: EngineConfig;
  readonly redact: RedactConfig;
  readonly log: LogConfig;
}

/** Where to listen. Port 0 lets the system choose. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface ListenConfig {
  readonly mcp: ListenAddress;
  readonly admin: ListenAddress;
  /** Names accepted in `Host` and `Origin` beside the loopback names. */
  readonly allowedHosts: readonly string[];
}

export interface IdentityConfig {
  /** Whether the token of the data directory stands for the user of this machine. */
  readonly local: boolean;
  /** File of static bearer tokens. */
  readonly tokens?: string;
  /** Whether callers without a token are served: loopback without a tokens file, or accepted by flag. */
  readonly allowAnonymous: boolean;
}

export type UpstreamEndpoint =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** Added to the small environment that children are given. */
      readonly env: Readonly<Record<string, string>>;
      /** Where it is started: the folder of what named it, so that `./server.js` means the same from anywhere. */
      readonly cwd: string;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface UpstreamConfig {
  readonly name: string;
  readonly endpoint: UpstreamEndpoint;
  /** Put before names of tools and prompts; may be empty. Unique among the upstreams. */
  readonly prefix: string;
  /** Whether the upstream's `readOnlyHint` counts (decision 6). */
  readonly trustAnnotations: boolean;
  readonly connections: Sharing;
  /** Most connections of one principal; further calls wait. */
  readonly connectionsMax: number;
  /** Policy by the upstream's own tool names; `*` is for all of them. */
  readonly tools: Readonly<Record<string, ToolRule>>;
  /** What holds where no rule of `tools` says otherwise. */
  readonly toolDefaults: ToolDefaults;
}

/** What is fixed for every tool unless a rule moves it: durations in ms and the concurrency. */
export type ToolDefaults = Omit<ToolPolicy, 'mode' | 'effect' | 'why'>;

/** What one entry of `tools` says; a member that it does not mention is absent. */
export type ToolRule = Partial<ToolDefaults> & {
  readonly mode?: ToolMode;
  readonly effect?: EffectClass;
  readonly roundsFirst?: boolean;
  readonly artifacts?: ArtifactSetting;
};

export interface LimitsConfig {
  /** Open tasks of one principal. */
  readonly openPerPrincipal: number;
  readonly openPerTenant: number;
  /** What is kept of one principal, in bytes. */
  readonly bytesPerPrincipal: number;
  readonly bytesPerTenant: number;
  /** Tasks open at once in the whole process. */
  readonly openTotal: number;
  /** Longest wait in the queue, in ms: a part of every task's ttl. */
  readonly queueTimeMs: number;
  readonly runningPerTool: number;
  readonly resultBytes: number;
  readonly artifactAboveBytes: number;
  readonly artifacts: ArtifactLimitsConfig;
  readonly requestBytes: number;
  readonly statusReads: { readonly perSecond: number; readonly burst: number };
}

export interface RetentionConfig {
  readonly tasksMs: number;
  readonly anonymousMs: number;
  readonly artifactsMs: number;
  readonly ledgerMs: number;
  readonly auditMs: number;
}

/** Where the work of a gateway over stdio is: in a process that outlives the window, or in the window's own. */
export const ENGINE_MODES = ['background', 'inline'] as const;
export type EngineMode = (typeof ENGINE_MODES)[number];

export interface EngineConfig {
  readonly mode: EngineMode;
  /** How long a background engine stays without windows and work. */
  readonly idleExitMs: number;
}

/** Whether what is large in a tool's results becomes artifacts. */
export const ARTIFACT_SETTINGS = ['on', 'off'] as const;
export type ArtifactSetting = (typeof ARTIFACT_SETTINGS)[number];

/** What artifacts may take up, in bytes. */
export interface ArtifactLimitsConfig {
  readonly eachBytes: number;
  readonly perPrincipalBytes: number;
  readonly perTenantBytes: number;
  readonly totalBytes: number;
}

export interface RedactConfig {
  /** Patterns of RE2 by their names. */
  readonly patterns: Readonly<Record<string, string>>;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** `auto`: pretty on a terminal, NDJSON elsewhere. */
export const LOG_FORMATS = ['auto', 'pretty', 'ndjson'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogConfig {
  readonly level: LogLevel;
  readonly format: LogFormat;
}
