import { createProcessNotes } from '../gateway/process-notes.ts';
import type { GatewayConfig } from '../gateway/config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { UpstreamManifest } from '../gateway/manifest.ts';
import type { UpstreamOptions } from '../gateway/options.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import { plainUpstreamName } from '../protocol/upstream-name.ts';
import type { RunTool } from '../runtime/job.ts';
import type { ServedTool, ToolOf } from '../runtime/tool.ts';
import type { ManifestStore } from '../stores/manifests.ts';
import { projectUpstreams, setKeyOf, type Project } from './project.ts';
import { createUpstreamSide, upstreamOptions } from './upstream-side.ts';

/** How long the upstreams' first words are waited for before callers are let in without them. */
const START_MS_MAX = 15_000;

export interface UpstreamSetsOptions {
  readonly config: GatewayConfig;
  /** Whether the configured upstreams are served: everywhere but in a background engine, whose windows bring theirs. */
  readonly servesConfigured: boolean;
  /** Keys the digests by which projects and upstreams are told apart. */
  readonly secret: Uint8Array;
  readonly manifests: ManifestStore;
  readonly childrenFile: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The upstreams of one window, or of several that brought the same. */
export interface SetLease {
  readonly gateway: Gateway;
  /** Resolves when there is something to serve, or when it has been waited for long enough. */
  readonly ready: Promise<void>;
  /** The window has gone; calls under way go on. Once for each lease. */
  release(): void;
}

/** What is told of the upstreams of one project. */
export interface SetFacts {
  readonly folder: string;
  readonly windows: number;
  readonly upstreams: readonly string[];
}

/**
 * Gateways over upstreams: the one of the configuration, and one for each set that windows have brought. Upstreams are
 * never shared between sets; a task finds its own by the name that it was kept under.
 */
export interface UpstreamSets {
  /** The gateway of the configuration; in a background engine it has no upstreams. */
  readonly configured: Gateway;
  readonly runTool: RunTool;
  readonly toolOf: ToolOf;
  /** The tools of all sets. */
  tools(): readonly ServedTool[];
  manifests(): readonly UpstreamManifest[];
  open(project: Project): SetLease;
  /**
   * Notes of whom there are open tasks, before any are taken up: those of upstreams that nobody has brought yet wait
   * for a window of their project.
   */
  noteOwners(upstreams: Iterable<string>): void;
  /** Upstreams of open tasks that are not here. */
  absent(): readonly string[];
  facts(): readonly SetFacts[];
  /** Ends sets without a window; `isNeeded` is asked whether an upstream has open tasks. */
  closeUnused(isNeeded: (upstream: string) => boolean, unusedMs: number): void;
  stop(graceMs: number): Promise<void>;
}

interface UpstreamSet {
  readonly key: string;
  readonly folder: string;
  readonly names: readonly string[];
  readonly gateway: Gateway;
  readonly ready: Promise<void>;
  windows: number;
  /** By the monotonic clock. */
  unusedSince: number;
}

/** How long a set that nobody needs any more may take to end. */
const UNUSED_END_MS = 4_000;

export function createUpstreamSets(options: UpstreamSetsOptions): UpstreamSets {
  const { config, logger, servesConfigured } = options;
  const processes = createProcessNotes(options.childrenFile, (thrown) =>
    logger.error('upstream.process_not_noted', { problem: messageOf(thrown) }),
  );
  const gatewayOf = (upstreams: readonly UpstreamOptions[]): Gateway =>
    createUpstreamSide({ ...options, upstreams, processes });
  const configured = gatewayOf(servesConfigured ? config.upstreams.map(upstreamOptions) : []);
  const brought = createBroughtSets({ ...options, gatewayOf });
  let absent: ReadonlySet<string> = new Set();

  const gatewayFor = (upstream: string): Gateway => brought.of(upstream)?.gateway ?? configured;
  const gateways = (): readonly Gateway[] => [
    configured,
    ...brought.all().map(({ gateway }) => gateway),
  ];
  return {
    configured,
    runTool: (job) => gatewayFor(job.tool.upstream).runTool(job),
    toolOf: (task) => gatewayFor(task.upstream).toolOf(task),
    tools: () => gateways().flatMap(({ surface }) => surface.tools()),
    manifests: () => gateways().flatMap((gateway) => gateway.manifests()),
    open: brought.open,
    noteOwners(upstreams) {
      // What the configuration named once and no longer does is not waited for: nobody can bring it.
      const isConfigured = (name: string): boolean =>
        servesConfigured && plainUpstreamName(name) === name;
      absent = new Set(Array.from(upstreams).filter((name) => !isConfigured(name)));
    },
    absent: () => Array.from(absent).filter((name) => brought.of(name) === undefined),
    facts: () =>
      brought.all().map(({ folder, windows, names }) => ({
        folder,
        windows,
        upstreams: names.map(plainUpstreamName),
      })),
    closeUnused: brought.closeUnused,
    async stop(graceMs) {
      const stopped = gateways().map((gateway) => gateway.stop(graceMs));
      await Promise.all([...stopped, ...brought.ending()]);
    },
  };
}

interface BroughtSetsOptions extends Pick<UpstreamSetsOptions, 'clock' | 'secret'> {
  gatewayOf(upstreams: readonly UpstreamOptions[]): Gateway;
}

/** What windows have brought: one set for all windows that brought the same. */
function createBroughtSets({ clock, secret, gatewayOf }: BroughtSetsOptions) {
  const sets = new Map<string, UpstreamSet>();
  const ending = new Set<Promise<void>>();

  const start = (project: Project, key: string): UpstreamSet => {
    const upstreams = projectUpstreams(project, secret);
    const gateway = gatewayOf(upstreams);
    const names = upstreams.map(({ name }) => name);
    const isUp = Promise.race([gateway.start(), sleep(clock, START_MS_MAX)]);
    const ready = isUp.then(() => undefined);
    const { folder } = project;
    return { key, folder, names, gateway, ready, windows: 0, unusedSince: clock.monotonic() };
  };
  const end = (set: UpstreamSet): void => {
    sets.delete(set.key);
    const ended = set.gateway.stop(UNUSED_END_MS).finally(() => ending.delete(ended));
    ending.add(ended);
  };
  return {
    all: (): readonly UpstreamSet[] => Array.from(sets.values()),
    /** The set that came last has the newest policy for what several of them serve. */
    of: (upstream: string): UpstreamSet | undefined =>
      Array.from(sets.values()).findLast(({ names }) => names.includes(upstream)),
    ending: (): readonly Promise<void>[] => Array.from(ending),
    open(project: Project): SetLease {
      const key = setKeyOf(project, secret);
      const set = sets.get(key) ?? start(project, key);
      sets.set(key, set);
      set.windows += 1;
      const release = (): void => {
        set.windows -= 1;
        set.unusedSince = clock.monotonic();
      };
      return { gateway: set.gateway, ready: set.ready, release };
    },
    closeUnused(isNeeded: (upstream: string) => boolean, unusedMs: number): void {
      for (const set of Array.from(sets.values())) {
        const isUsed = set.windows > 0 || set.names.some(isNeeded);
        if (isUsed) set.unusedSince = clock.monotonic();
        else if (clock.monotonic() - set.unusedSince >= unusedMs) end(set);
      }
    },
  };
}
