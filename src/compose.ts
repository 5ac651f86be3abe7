import type { UpstreamStatus } from './admin/options.ts';
import { openAdminDoor } from './compose/admin-door.ts';
import { openDataHome, type DataHome } from './compose/data-home.ts';
import { writeEndpointFile } from './compose/endpoint-file.ts';
import {
  joinFronts,
  NO_FRONT,
  openHttpFront,
  openStdioFront,
  type Front,
  type StdioStreams,
} from './compose/front.ts';
import { openProcessLog, type LogSink } from './compose/process-log.ts';
import { PRODUCT } from './compose/product.ts';
import { createReceivingSide, endWork, type ReceivingSide } from './compose/receiving-side.ts';
import { createTeardown, type Teardown } from './compose/teardown.ts';
import { openTasks } from './compose/engine-life.ts';
import { createUpstreamSets, type UpstreamSets } from './compose/upstream-sets.ts';
import { statusOf } from './compose/upstream-side.ts';
import { createWindowLife, openWindows, type WindowLife } from './compose/windows.ts';
import type { FaceOptions } from './faces/mcp/face.ts';
import { CONFIRM_PATH } from './faces/mcp/http/confirm-route.ts';
import { reachableNames } from './gateway/config/address.ts';
import type { GatewayConfig, ListenAddress } from './gateway/config/config.ts';
import type { LoadedConfig } from './gateway/config/load.ts';
import { redactionRules } from './gateway/config/redaction.ts';
import { openTokensFile } from './gateway/config/tokens-file.ts';
import { createAuthenticator } from './identity/authenticate.ts';
import type { Authenticator } from './identity/authenticator.ts';
import { createMayStill, type StandingOptions } from './identity/standing.ts';
import { NO_TOKENS } from './identity/static-token.ts';
import { sleep, systemClock, type Clock } from './kernel/clock.ts';
import type { Logger } from './kernel/logger.ts';
import { addRedactionRules } from './kernel/redact/redact.ts';
import { systemRandom, type Random } from './kernel/random.ts';
import { createRouteMeter, type RouteMeter } from './runtime/route-meter.ts';
import type { Surface } from './runtime/surface.ts';
import { lockDataDirectory, type DataHolder, type DataLock } from './stores/sqlite/data-lock.ts';
import type { Store } from './stores/store.ts';

/** How long the upstreams' first words are waited for before callers are let in without them. */
const UPSTREAM_START_MS = 15_000;
/** How long an upstream that is told to end may take to do so. */
const UPSTREAM_END_MS = 4_000;
const ADMIN_END_MS = 500;

/** What a program that starts a gateway may put in place of the usual. */
export interface AppOverrides {
  readonly clock?: Clock;
  readonly random?: Random;
  /** Serve one client over these streams, as the local user, instead of HTTP. */
  readonly stdio?: StdioStreams;
  /** Be the background engine of the data directory: windows bring their upstreams, and nobody is served over HTTP. */
  readonly engine?: boolean;
  /** Where the log goes over HTTP; over stdio it goes to a file in the data directory. Absent: nowhere. */
  readonly log?: LogSink;
}

/** A gateway that serves. */
export interface GatewayApp {
  /** `http://127.0.0.1:8787/mcp`; absent over stdio. */
  readonly mcpUrl: string | undefined;
  readonly adminUrl: string;
  /** What stands for the user of this machine over HTTP; absent where they are not served. */
  readonly localToken: string | undefined;
  readonly surface: Surface;
  upstreams(): readonly UpstreamStatus[];
  /** Resolves when the only caller that there can be has left, or when a background engine is to end. */
  readonly closed: Promise<void>;
  /** How long running calls are to have then, in ms, where whoever asked for the end has said so. */
  graceMs(): number | undefined;
  /** Drains and ends: running calls have `graceMs`; what does not end is left to the recovery of the next start. */
  stop(graceMs: number): Promise<void>;
}

/** What the parts of one process share. */
interface Foundation {
  readonly config: GatewayConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly teardown: Teardown;
  /** How calls were routed. */
  readonly routes: RouteMeter;
  readonly overrides: AppOverrides;
}

/**
 * Starts a gateway: takes the data directory, ends what a dead one left running, opens the store, reaches the
 * upstreams, recovers the work of the dead one, and only then lets anybody in. Work starts last: a start that fails,
 * for instance because a port is taken, must not have sent anything that it then leaves behind. What fails on the way
 * is thrown after everything before it has been ended: LONGCALL_DATA_LOCKED, LONGCALL_KEY_FILE_UNSAFE,
 * LONGCALL_LISTEN_FAILED and others.
 */
export async function createGatewayApp(
  { config, origins }: LoadedConfig,
  overrides: AppOverrides = {},
): Promise<GatewayApp> {
  const { clock = systemClock, random = systemRandom } = overrides;
  const lock = await lockAs(holderOf(overrides), config.data, clock);
  const { data, log: wanted } = config;
  const toFile = overrides.stdio !== undefined || overrides.engine === true;
  const log = orRelease(lock, () =>
    openProcessLog({ data, log: wanted, clock, toFile, sink: overrides.log }),
  );
  const teardown = createTeardown(log.logger);
  teardown.add('redaction', addRedactionRules(redactionRules(config.redact)));
  teardown.add('log', () => log.close());
  teardown.add('lock', () => lock.release());
  const routes = createRouteMeter();
  const foundation = { config, clock, random, logger: log.logger, teardown, routes, overrides };
  try {
    return await assemble(foundation, adminAddress(config, { origins, overrides }));
  } catch (error) {
    await teardown.run(0);
    throw error;
  }
}

function holderOf({ stdio, engine }: AppOverrides): DataHolder {
  if (engine === true) return 'engine';
  return stdio === undefined ? 'gateway' : 'alone';
}

const LOCK_TRIES = 10;
const LOCK_AGAIN_MS = 100;

/** Whoever starts an engine looks whether the lock is held, and holds it for that instant itself. */
async function lockAs(holder: DataHolder, data: string, clock: Clock): Promise<DataLock> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await lockDataDirectory(data, holder);
    } catch (error) {
      if (holder !== 'engine' || tries >= LOCK_TRIES) throw error;
      await sleep(clock, LOCK_AGAIN_MS);
    }
  }
}

function orRelease<T>(lock: DataLock, open: () => T): T {
  try {
    return open();
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function assemble(foundation: Foundation, admin: ListenAddress): Promise<GatewayApp> {
  const { config, clock, random, logger, teardown } = foundation;
  const shared = { config, clock, random, logger };
  const home = await openDataHome({
    ...shared,
    directory: config.data,
    localUser: config.identity.local,
  });
  teardown.add('store', () => home.store.close());
  const grants = grantsOf(foundation);
  const authenticator = authenticatorOf(grants, clock, home);
  const sets = createUpstreamSets({
    ...shared,
    servesConfigured: foundation.overrides.engine !== true,
    secret: home.engineSecret,
    manifests: home.store.manifests,
    childrenFile: home.childrenFile,
  });
  teardown.add('upstreams', (graceMs) => sets.stop(Math.min(graceMs, UPSTREAM_END_MS)));
  const receiving = createReceivingSide({
    ...shared,
    store: home.store,
    blobs: home.blobs,
    gateway: { surface: { tools: sets.tools }, runTool: sets.runTool, toolOf: sets.toolOf },
    exceptUpstreams: sets.absent,
    keys: home.keys,
    confirmUrl: () => confirmUrlOf(entrance.front()),
    mayStill: createMayStill(grants),
  });
  const entrance = createEntrance(receiving, clock);
  teardown.add('work', entrance.close);
  const parts = { foundation, home, sets, receiving };
  await Promise.race([sets.configured.start(), sleep(clock, UPSTREAM_START_MS)]);
  await receiving.runtime.recover();
  sets.noteOwners(await ownersOf(home.store));
  const windows = createWindowLife();
  const front = entrance.open(await openFront(parts, authenticator, windows));
  const adminUrl = await openAdmin(parts, { front, address: admin });
  receiving.engine.start(receiving.runtime.runAttempt);
  receiving.runtime.startSweeping();
  logger.info('gateway.started', { version: PRODUCT.version, mcpUrl: front.mcpUrl, adminUrl });
  return {
    mcpUrl: front.mcpUrl,
    adminUrl,
    localToken: home.localToken,
    surface: sets.configured.surface,
    upstreams: () => sets.manifests().map(statusOf),
    closed: Promise.race([front.closed, windows.over]),
    graceMs: windows.graceMs,
    stop: (graceMs) => teardown.run(graceMs),
  };
}

interface Parts {
  readonly foundation: Foundation;
  readonly home: DataHome;
  readonly sets: UpstreamSets;
  readonly receiving: ReceivingSide;
}

/** Upstreams of which there are open tasks. */
async function ownersOf(store: Store): Promise<ReadonlySet<string>> {
  const owners = new Set<string>();
  for await (const { upstream } of openTasks(store)) owners.add(upstream);
  return owners;
}

/** Pages confirm where callers come in; over stdio nobody else can. */
const confirmUrlOf = (front: Front | undefined): string | undefined =>
  front?.mcpUrl === undefined ? undefined : new URL(CONFIRM_PATH, front.mcpUrl).href;

interface Entrance {
  open(front: Front): Front;
  /** The one that is open. */
  front(): Front | undefined;
  close(graceMs: number): Promise<void>;
}

/** Callers are let go only after the work that they wait for has had its time, so that they get its answers. */
function createEntrance(receiving: ReceivingSide, clock: Clock): Entrance {
  let opened: Front | undefined;
  return {
    open: (front) => (opened = front),
    front: () => opened,
    async close(graceMs) {
      const whileAnswering = (): Promise<void> => endWork(receiving, clock, graceMs);
      await (opened ? opened.close(whileAnswering) : whileAnswering());
    },
  };
}

async function openFront(
  parts: Parts,
  authenticator: Authenticator,
  life: WindowLife,
): Promise<Front> {
  const { foundation, home, sets, receiving } = parts;
  const { config, clock, random, logger, overrides, teardown } = foundation;
  const options: FaceOptions = {
    receiver: receiving.runtime.receiver,
    surface: sets.configured.surface,
    authenticator,
    sealer: home.keys.sealer,
    clock,
    random,
    logger,
    allowedHosts: reachableNames(config.listen.mcp, config.listen.allowedHosts),
    jobTools: config.jobTools,
    routes: foundation.routes,
    maxBodyBytes: config.limits.requestBytes,
    statusReads: config.limits.statusReads,
    product: PRODUCT,
  };
  const { stdio } = overrides;
  if (stdio) return openStdioFront(options, stdio);
  const http =
    overrides.engine === true ? NO_FRONT : await openHttpFront(options, config.listen.mcp);
  try {
    const asEngine = overrides.engine === true;
    const windows = { config, asEngine, home, sets, receiving, face: options, life, teardown };
    return joinFronts(http, await openWindows(windows));
  } catch (error) {
    await http.close(() => Promise.resolve());
    throw error;
  }
}

/** Who is known beside the user of this machine. */
function grantsOf({ config, clock, logger }: Foundation): StandingOptions {
  const { tokens: path, allowAnonymous } = config.identity;
  const tokens = path === undefined ? NO_TOKENS : openTokensFile({ path, clock, logger });
  return { tokens, allowAnonymous };
}

function authenticatorOf(
  grants: StandingOptions,
  clock: Clock,
  { localToken }: DataHome,
): Authenticator {
  return createAuthenticator({
    ...grants,
    clock,
    ...(localToken === undefined ? {} : { localToken }),
  });
}

interface AdminPlace {
  readonly front: Front;
  readonly address: ListenAddress;
}

async function openAdmin(parts: Parts, { front, address }: AdminPlace): Promise<string> {
  const { foundation, home, sets, receiving } = parts;
  const { config, clock, logger, teardown } = foundation;
  const door = await openAdminDoor(
    {
      store: home.store,
      runtime: receiving.runtime,
      surface: { tools: sets.tools },
      routes: foundation.routes,
      upstreams: () => sets.manifests().map(statusOf),
      adminToken: home.adminToken,
      allowedHosts: reachableNames(address, config.listen.allowedHosts),
      hashId: home.keys.hashId,
      clock,
      logger,
      startedAt: clock.now(),
      info: {
        version: PRODUCT.version,
        dataDirectory: config.data,
        ...(front.mcpUrl === undefined ? {} : { mcpUrl: front.mcpUrl }),
      },
    },
    address,
  );
  teardown.add('admin', () => door.close(ADMIN_END_MS));
  const mcpUrl = front.mcpUrl === undefined ? {} : { mcpUrl: front.mcpUrl };
  teardown.add(
    'endpoint',
    writeEndpointFile(config.data, { adminUrl: door.origin, pid: process.pid, ...mcpUrl }),
  );
  return door.origin;
}

interface AdminChoice {
  readonly origins: LoadedConfig['origins'];
  readonly overrides: AppOverrides;
}

/** Hosts start several gateways over stdio at once; unless somebody chose a port they must not fight for one. */
function adminAddress(config: GatewayConfig, { origins, overrides }: AdminChoice): ListenAddress {
  const isChosen = origins.some(
    ({ path, origin }) => path === 'listen.admin' && origin !== 'default',
  );
  const isShared = overrides.stdio !== undefined || overrides.engine === true;
  return isShared && !isChosen ? { ...config.listen.admin, port: 0 } : config.listen.admin;
}
