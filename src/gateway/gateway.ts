import { messageOf } from '../kernel/logger.ts';
import type { RunTool } from '../runtime/job.ts';
import type { Surface, SurfaceEvent } from '../runtime/surface.ts';
import type { ServedTool, ToolOf } from '../runtime/tool.ts';
import { createCallOnce, type CallOnce } from './call-once.ts';
import { EVERYBODY } from './connection-plan.ts';
import { createListeners } from './listeners.ts';
import { applyLogLevel, createLogLevels } from './log-levels.ts';
import { manifestOf, type UpstreamManifest } from './manifest.ts';
import { settingsOf, type GatewayOptions, type Settings } from './options.ts';
import { createOwnerSearch } from './owner-search.ts';
import { createProcessNotes } from './process-notes.ts';
import { createRunTool } from './run-tool.ts';
import { joinTools, serveTools, type ToolDirectory } from './served-tools.ts';
import { createSubscriptions } from './subscriptions.ts';
import { createSurface } from './surface.ts';
import { toolOfTask } from './tool-of-task.ts';
import { createUpstream, type Upstream, type UpstreamEvents } from './upstream.ts';

/** A served peer whose tools, prompts and resources are those of upstreams. */
export interface Gateway {
  readonly surface: Surface;
  readonly runTool: RunTool;
  readonly callOnce: CallOnce;
  readonly toolOf: ToolOf;
  /**
   * Connects. Resolves when each upstream has something to serve: what was stored, or its first attempt, good or bad.
   * An upstream that is down does not stop it: it is reported, and tried again with growing pauses.
   */
  start(): Promise<void>;
  /** Ends connections and child processes, the latter by force after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  /** What is known of each upstream now, in the order of the options. */
  manifests(): readonly UpstreamManifest[];
  /** Called with an upstream's manifest whenever its state or facts have changed. Returns the way to stop. */
  onManifest(listener: (manifest: UpstreamManifest) => void): () => void;
}

export function createGateway(options: GatewayOptions): Gateway {
  const settings = settingsOf(options);
  const failed =
    (event: string) =>
    (thrown: unknown): void =>
      settings.logger.error(event, { problem: messageOf(thrown) });
  const processes =
    options.processes ?? createProcessNotes(options.pidsFile, failed('upstream.process_not_noted'));
  const levels = createLogLevels();
  const surfaceEvents = createListeners<SurfaceEvent>(failed('upstream.listener_failed'));
  const manifestEvents = createListeners<UpstreamManifest>(failed('upstream.listener_failed'));
  const events: UpstreamEvents = {
    changed(upstream) {
      directory.refresh();
      manifestEvents.tell(describe(upstream, directory.now()));
    },
    listChanged(upstream, list) {
      directory.refresh();
      if (list !== 'tools') search.forget(upstream);
      surfaceEvents.tell({ kind: 'list_changed', list });
    },
    stray(upstream, { owner, method, params }) {
      if (method === 'notifications/resources/updated')
        subscriptions.heard(upstream, owner, params);
      // On a connection that all share nobody can say whose call a message is about.
      if (method === 'notifications/message' && owner !== undefined && owner !== EVERYBODY)
        surfaceEvents.tell({ kind: 'log', principalKey: owner, params });
    },
    connectionOwned: (connection, owner) => void applyLogLevel(connection, levels.levelOf(owner)),
  };
  const { manifests } = options;
  const upstreams: readonly Upstream[] = options.upstreams.map((own) =>
    createUpstream(own, { settings, manifests, processes, events }),
  );
  const directory = createToolDirectory(upstreams, settings);
  const search = createOwnerSearch(upstreams);
  const subscriptions = createSubscriptions({
    settings,
    search,
    onUpdated: (principalKey, uri, params) =>
      surfaceEvents.tell({ kind: 'resource_updated', uri, principalKey, params }),
  });
  const surface = { settings, upstreams, search, levels, subscriptions, events: surfaceEvents };

  return {
    surface: createSurface({ ...surface, directory: () => directory.now() }),
    runTool: createRunTool({ settings, upstreams, levels }),
    callOnce: createCallOnce({ settings, upstreams, levels }),
    toolOf: (task) => toolOfTask(task, directory.now(), upstreams),
    async start() {
      await Promise.all(upstreams.map((upstream) => upstream.start()));
    },
    async stop(graceMs) {
      subscriptions.stop();
      await Promise.all(upstreams.map((upstream) => upstream.stop(graceMs)));
    },
    manifests: () => upstreams.map((upstream) => describe(upstream, directory.now())),
    onManifest: (listener) => manifestEvents.add(listener),
  };
}

/** The tools of all upstreams, joined again whenever one of them has changed. */
function createToolDirectory(
  upstreams: readonly Upstream[],
  { reservedNames, logger }: Pick<Settings, 'reservedNames' | 'logger'>,
) {
  let directory = joinTools([]);
  const warned = new Set<string>();
  const warn = ({ name, upstream }: ServedTool): void => {
    if (!reservedNames.includes(name) || warned.has(upstream + name)) return;
    warned.add(upstream + name);
    const remedy = `set upstreams.${upstream}.prefix`;
    logger.warn('upstream.tool_name_reserved', { upstream, tool: name, remedy });
  };
  return {
    now: (): ToolDirectory => directory,
    refresh() {
      directory = joinTools(
        upstreams.map(({ options, document }) => {
          const known = document();
          return known ? serveTools(options, known) : [];
        }),
        reservedNames,
      );
      directory.hidden.forEach(warn);
    },
  };
}

function describe(upstream: Upstream, { served, hidden }: ToolDirectory): UpstreamManifest {
  const { name, endpoint } = upstream.options;
  const [document, takenAt] = [upstream.document(), upstream.takenAt()];
  return manifestOf({
    upstream: name,
    transport: endpoint.kind,
    ...upstream.state(),
    ...(document ? { document } : {}),
    ...(takenAt === undefined ? {} : { takenAt }),
    served: served.filter((tool) => tool.upstream === name),
    hidden: hidden.filter((tool) => tool.upstream === name),
  });
}
