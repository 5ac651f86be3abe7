import { Hono } from 'hono';
import { toIso } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { OPERATION_STATES } from '../ledger/operation.ts';
import type { OperationState } from '../ledger/operation.ts';
import type { EffectClass } from '../protocol/model.ts';
import type { ServedTool, ToolMode } from '../runtime/tool.ts';
import type { StoreHealth } from '../stores/store.ts';
import type { TaskCounts } from '../stores/tasks.ts';
import { versioned } from './documents.ts';
import { auditDocuments, eventDocuments } from './event-reads.ts';
import type { AdminOptions, UpstreamStatus } from './options.ts';
import { limitOf, queryOf } from './query.ts';
import { usage } from './refusals.ts';
import { createStoreCheck } from './store-check.ts';

export interface UpstreamDocument {
  readonly name: string;
  readonly state: UpstreamStatus['state'];
  readonly transport: string;
  readonly serverName: string | null;
  readonly serverVersion: string | null;
  readonly protocolVersion: string | null;
  readonly since: string | null;
  readonly problem: string | null;
}

export interface StatusDocument {
  readonly version: string;
  readonly node: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly uptimeMs: number;
  /** The process's clock, so that a reader can see how far its own is off. */
  readonly now: string;
  readonly dataDirectory: string;
  readonly mcpUrl: string | null;
  readonly tasks: TaskCounts;
  readonly attempts: {
    readonly queued: number;
    readonly running: number;
    /** Waiting for an answer of their owner. */
    readonly parked: number;
  };
  /** Whether the process is stopping and starts nothing new. */
  readonly draining: boolean;
  readonly operations: Readonly<Record<OperationState, number>>;
  readonly store: StoreHealth & { readonly checkedAt: string };
  readonly upstreams: readonly UpstreamDocument[];
}

/** An upstream's status as every document shows it: what is not known is null. */
export const upstreamDocument = (upstream: UpstreamStatus): UpstreamDocument => ({
  name: upstream.name,
  state: upstream.state,
  transport: upstream.transport,
  serverName: upstream.serverName ?? null,
  serverVersion: upstream.serverVersion ?? null,
  protocolVersion: upstream.protocolVersion ?? null,
  since: upstream.since === undefined ? null : toIso(upstream.since),
  problem: upstream.problem ?? null,
});

type CheckStore = ReturnType<typeof createStoreCheck>;

async function readStatus(options: AdminOptions, check: CheckStore): Promise<StatusDocument> {
  const { store, info, clock } = options;
  const { running, parked, draining } = options.runtime.stats();
  const [tasks, queued, operations, health] = await Promise.all([
    store.tasks.counts(),
    store.attempts.queuedCount(),
    store.operations.counts(),
    check(),
  ]);
  return {
    version: info.version,
    node: process.versions.node,
    pid: process.pid,
    startedAt: toIso(options.startedAt),
    uptimeMs: Math.max(0, clock.now() - options.startedAt),
    now: toIso(clock.now()),
    dataDirectory: info.dataDirectory,
    mcpUrl: info.mcpUrl ?? null,
    tasks,
    attempts: { queued, running, parked },
    draining,
    operations: Object.fromEntries(
      OPERATION_STATES.map((state) => [state, operations[state]]),
    ) as Record<OperationState, number>,
    store: { ...health, checkedAt: toIso(health.checkedAt) },
    upstreams: options.upstreams().map(upstreamDocument),
  };
}

export interface ServedToolDocument {
  readonly name: string;
  readonly upstreamName: string;
  readonly mode: ToolMode;
  readonly effect: EffectClass;
  readonly why: string;
}

export interface ManifestDocument {
  readonly upstream: string;
  /** When the evidence was taken; `null`: never, this upstream has not answered yet. */
  readonly takenAt: string | null;
  /** Each tool as longcall serves it. */
  readonly tools: readonly ServedToolDocument[];
  /** The evidence itself, as it was taken. */
  readonly document: JsonObject | null;
}

const servedTool = (tool: ServedTool): ServedToolDocument => ({
  name: tool.name,
  upstreamName: tool.upstreamName,
  mode: tool.mode,
  effect: tool.effect,
  why: tool.why,
});

async function readManifests(options: AdminOptions): Promise<readonly ManifestDocument[]> {
  const tools = options.surface.tools();
  return Promise.all(
    options.upstreams().map(async ({ name }) => {
      const stored = await options.store.manifests.get(name);
      return {
        upstream: name,
        takenAt: stored === undefined ? null : toIso(stored.takenAt),
        tools: tools.filter((tool) => tool.upstream === name).map(servedTool),
        document: stored?.document ?? null,
      };
    }),
  );
}

/** Events are listed as they happened, so their cursor is the sequence of the last one that was shown. */
function sequenceOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (!/^\d{1,15}$/.test(cursor)) throw usage('the cursor must be the sequence of an event');
  return Number(cursor);
}

/** What the process, its upstreams and its audit say. */
export function createOverviewRoutes(options: AdminOptions): Hono {
  const routes = new Hono();
  const check = createStoreCheck(options.store, options.clock);
  routes.get('/status', async (context) =>
    context.json(versioned(await readStatus(options, check))),
  );
  routes.get('/manifests', async (context) =>
    context.json(versioned({ items: await readManifests(options), nextCursor: null })),
  );
  routes.get('/events', async (context) => {
    const query = queryOf(context, ['taskId', 'cursor', 'limit'] as const);
    const limit = limitOf(query.limit);
    const afterSequence = sequenceOf(query.cursor);
    const { taskId } = query;
    const events = await options.store.events.list({
      limit,
      ...(afterSequence !== undefined && { afterSequence }),
      ...(taskId !== undefined && { taskId }),
    });
    const items =
      taskId === undefined ? auditDocuments(events, options.hashId) : eventDocuments(events);
    const last = events.length === limit ? events.at(-1) : undefined;
    const nextCursor = last === undefined ? null : String(last.sequence);
    return context.json(versioned({ items, nextCursor }));
  });
  return routes;
}
