import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import type { PeerTarget } from '../requestor/connect.ts';
import type { ClientInfo } from '../requestor/envelope.ts';
import type { TaskSupport } from '../requestor/tool-call.ts';
import type { ServedTool } from '../runtime/tool.ts';
import type { ManifestStore } from '../stores/manifests.ts';
import type { ProcessNotes } from './process-notes.ts';

/**
 * How calls share connections (decision 8). `auto`: one per call where the upstream could not be attributed a question
 * otherwise, one per principal where it keeps state, one for all where it keeps none. `per-call`: one per call.
 * `per-principal`: one per principal, calls that may be asked run one at a time. `shared`: one for everybody; the
 * operator vouches that this upstream keeps nothing of one caller that another may see.
 */
export const SHARINGS = ['auto', 'per-call', 'per-principal', 'shared'] as const;
export type Sharing = (typeof SHARINGS)[number];

/** How one tool is served; `why` is one line for people. Durations in ms. */
export type ToolPolicy = Omit<ServedTool, 'name' | 'upstream' | 'upstreamName' | 'definition'>;

/** Resolves policy for a tool by the upstream's own name for it. */
export type PolicyOf = (
  toolName: string,
  annotations: JsonObject | undefined,
  taskSupport: TaskSupport | undefined,
) => ToolPolicy;

export interface UpstreamOptions {
  /** Unique among the upstreams. */
  readonly name: string;
  readonly endpoint: PeerTarget;
  readonly connections: Sharing;
  /** Most connections of one principal; further calls wait. */
  readonly connectionsMax: number;
  /** Put before names of tools and prompts. */
  readonly prefix: string;
  readonly policyOf: PolicyOf;
  /** Whether large results of some of its tools become artifacts, so that larger ones are read. */
  readonly keepsArtifacts?: boolean;
}

export interface GatewayOptions {
  /** In order of precedence where names or URIs collide. */
  readonly upstreams: readonly UpstreamOptions[];
  readonly manifests: ManifestStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Who we say we are, to upstreams and, in front of several of them, to callers. */
  readonly clientInfo: ClientInfo;
  /** Names of tools that are ours: what an upstream has under one of them is not served, and a warning says so. */
  readonly reservedNames?: readonly string[];
  /** Where running child processes are noted, for `endOrphans` after our own death. */
  readonly pidsFile?: string;
  /** The notes themselves, where several gateways of a process share a file; in place of `pidsFile`. */
  readonly processes?: ProcessNotes;
  /** Largest result in bytes. */
  readonly resultBytesMax?: number;
  /** Longest wait for anything that is no tool call. */
  readonly requestMsMax?: number;
  /** Longest wait for each step of a handshake; the first start of a package runner may download. */
  readonly connectMsMax?: number;
  /** How long a silent upstream is waited for before it is taken for an older one. */
  readonly probeMs?: number;
  /** After this time without a call, connections beyond one are closed. */
  readonly idleMs?: number;
}

export const DEFAULTS = {
  resultBytesMax: 16 * 1024 ** 2,
  requestMsMax: 60_000,
  connectMsMax: 60_000,
  probeMs: 10_000,
  idleMs: 60_000,
  reservedNames: [],
} as const;

/** What surrounds a result in its message: id, envelope, JSON-RPC. */
export const ENVELOPE_BYTES = 64 * 1024;

/** Everything that the parts of the gateway share, defaults filled in. */
export type Settings = Required<
  Omit<GatewayOptions, 'upstreams' | 'manifests' | 'pidsFile' | 'processes'>
>;

export const settingsOf = (options: GatewayOptions): Settings => ({ ...DEFAULTS, ...options });
