import type { JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Connection } from '../requestor/connection.ts';
import type { ManifestStore } from '../stores/manifests.ts';
import {
  createConnectionPool,
  type ConnectionPool,
  type Lease,
  type LeaseRequest,
} from './connection-pool.ts';
import { createHealing, unreachable, type Healing } from './healing.ts';
import type { UpstreamState } from './manifest.ts';
import type { Settings, UpstreamOptions } from './options.ts';
import type { PeerDocument } from './peer-document.ts';
import type { ProcessNotes } from './process-notes.ts';
import { createRetaker } from './retaking.ts';
import { createKnowledge, type UpstreamKnowledge } from './upstream-knowledge.ts';
import { hear, openConnection } from './upstream-opening.ts';

/** How long a connection may have been silent before it is pinged where its death would not show. */
const SILENT_MS = 10_000;
const PING_MS_MAX = 5_000;
const CLOSE_GRACE_MS = 2_000;
/** How many connections may turn out dead before a call gives up on having one. */
const LEASE_TRIES = 3;

export type ListName = 'tools' | 'resources' | 'prompts';

/** What an upstream says that belongs to no call. */
export interface Stray {
  /** Whose connection it was said on: EVERYBODY, a principal's key, or nobody's yet. */
  readonly owner: string | undefined;
  readonly method: string;
  readonly params: JsonObject;
}

export interface UpstreamEvents {
  /** State or facts have changed. */
  changed(upstream: Upstream): void;
  /** A list may read differently now. */
  listChanged(upstream: Upstream, list: ListName): void;
  stray(upstream: Upstream, stray: Stray): void;
  /** A connection was given to its owner; it has none of the owner's settings yet. */
  connectionOwned(connection: Connection, owner: string): void;
}

export interface UpstreamParts {
  readonly settings: Settings;
  readonly manifests: ManifestStore;
  readonly processes: ProcessNotes;
  readonly events: UpstreamEvents;
}

/** One upstream: its connections, what is known of it, and its way back when it dies. */
export interface Upstream {
  readonly options: UpstreamOptions;
  readonly pool: ConnectionPool;
  /** Resolves when there is something to serve: the stored facts, or the first attempt, good or bad. */
  start(): Promise<void>;
  /** A connection that stands. Rejects with LONGCALL_UPSTREAM_UNREACHABLE; nothing was sent then. */
  lease(request: LeaseRequest): Promise<Lease>;
  document(): PeerDocument | undefined;
  takenAt(): number | undefined;
  state(): { readonly state: UpstreamState; readonly problem?: string };
  stop(graceMs: number): Promise<void>;
}

export function createUpstream(options: UpstreamOptions, parts: UpstreamParts): Upstream {
  const { settings, events } = parts;
  const { name } = options;
  const knowledge = createKnowledge(options, parts.manifests, settings);
  const stopped = new AbortController();

  const pool = createConnectionPool({
    sharing: options.connections,
    connectionsMax: options.connectionsMax,
    idleMs: settings.idleMs,
    clock: settings.clock,
    open: () => open(),
    onOwned: (connection, owner) => events.connectionOwned(connection, owner),
    onGone(_connection, problem) {
      if (pool.connections().length === 0) healing.lost(problem);
    },
  });
  const learn = async (connection: Connection): Promise<void> => {
    const tools = await knowledge.learn(connection);
    if (tools === 'changed') events.listChanged(upstream, 'tools');
    events.changed(upstream);
  };
  const retaker = createRetaker({
    clock: settings.clock,
    retake: learn,
    onFailed: (error) =>
      settings.logger.warn('upstream.manifest_failed', {
        upstream: name,
        problem: messageOf(error),
      }),
  });
  const open = async (): Promise<Connection> => {
    const { signal } = stopped;
    const opening = { verdict: knowledge.verdict(), signal };
    const connection = await openConnection(options, parts, opening);
    if (signal.aborted) {
      await connection.close(CLOSE_GRACE_MS);
      throw unreachable(name, 'the gateway is stopping');
    }
    hear(connection, { upstream, retaker, parts, signal });
    return connection;
  };
  const healing: Healing = createHealing({
    settings,
    upstream: name,
    onState: () => events.changed(upstream),
    connect: () =>
      connectFirst({ upstream, knowledge, open, learn, events, stopped: stopped.signal }),
  });
  const upstream: Upstream = {
    options,
    pool,
    async start() {
      await knowledge.load();
      events.changed(upstream);
      const first = healing.connected(stopped.signal).catch(() => undefined);
      if (!knowledge.document()) await first;
    },
    lease: (request) => leaseFrom({ pool, healing, name }, request, LEASE_TRIES),
    document: () => knowledge.document(),
    takenAt: () => knowledge.takenAt(),
    state: () => healing.state(),
    async stop(graceMs) {
      stopped.abort();
      await Promise.all([healing.stop(), pool.close(graceMs)]);
    },
  };
  return upstream;
}

interface LeaseSource {
  readonly pool: ConnectionPool;
  readonly healing: Healing;
  readonly name: string;
}

async function leaseFrom(
  source: LeaseSource,
  request: LeaseRequest,
  triesLeft: number,
): Promise<Lease> {
  const { pool, healing, name } = source;
  if (pool.connections().length === 0) await healing.connected(request.signal);
  const lease = await pool.lease(request);
  if (await isFresh(lease.connection)) return lease;
  lease.release();
  await lease.connection.close(CLOSE_GRACE_MS);
  if (triesLeft > 1) return leaseFrom(source, request, triesLeft - 1);
  throw unreachable(name, 'its connections do not last');
}

interface FirstConnection {
  readonly upstream: Upstream;
  readonly knowledge: UpstreamKnowledge;
  readonly events: UpstreamEvents;
  readonly stopped: AbortSignal;
  open(): Promise<Connection>;
  learn(connection: Connection): Promise<void>;
}

/** Opens the connection that brings an upstream up. It counts once it has answered for itself. */
async function connectFirst(first: FirstConnection): Promise<() => void> {
  const { upstream, knowledge, events, open } = first;
  const isReturn = knowledge.document() !== undefined;
  try {
    const connection = await open();
    await learnUnlessStopped(connection, first);
    return () => {
      upstream.pool.adopt(connection);
      if (isReturn) tellOtherLists(upstream, events);
    };
  } catch (error) {
    knowledge.forgetVerdict();
    throw error;
  }
}

/** Until the pool has it, a connection is in nobody's hands: a stop must end it here, or it would outlive the gateway. */
async function learnUnlessStopped(
  connection: Connection,
  { upstream, learn, stopped }: FirstConnection,
): Promise<void> {
  const close = (): Promise<void> => connection.close(CLOSE_GRACE_MS);
  const closeNow = (): void => void close();
  stopped.addEventListener('abort', closeNow, { once: true });
  try {
    await learn(connection);
    if (stopped.aborted) throw unreachable(upstream.options.name, 'the gateway is stopping');
  } catch (error) {
    await close();
    throw error;
  } finally {
    stopped.removeEventListener('abort', closeNow);
  }
}

/** What an upstream listed before it went away may read differently now. */
function tellOtherLists(upstream: Upstream, events: UpstreamEvents): void {
  for (const list of ['resources', 'prompts'] as const)
    if (upstream.document()?.capabilities[list] !== undefined) events.listChanged(upstream, list);
}

/** A session whose end would not show is asked, before something is sent on it that must not be sent twice. */
async function isFresh(connection: Connection): Promise<boolean> {
  if (!connection.isOpen()) return false;
  if (connection.isWatched() || !connection.keepsState || connection.silentMs() < SILENT_MS)
    return true;
  return connection.ping(PING_MS_MAX);
}
