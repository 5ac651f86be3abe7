import type { UpstreamStatus } from './admin/options.ts';
import { openAdminDoor } from './compose/admin-door.ts';
import { openDataHome, type DataHome } from './compose/data-home.ts';
import { writeEndpointFile } from './compose/endpoint-file.ts';
import { openHttpFront, openStdioFront, type Front, type StdioStreams } from './compose/front.ts';
import { openProcessLog, type LogSink } from './compose/process-log.ts';
import { PRODUCT } from './compose/product.ts';
import { createReceivingSide, endWork, type ReceivingSide } from './compose/receiving-side.ts';
import { createTeardown, type Teardown } from './compose/teardown.ts';
import { createUpstreamSide, statusOf } from './compose/upstream-side.ts';
import type { FaceOptions } from './faces/mcp/face.ts';
import { reachableNames } from './gateway/config/address.ts';
import type { GatewayConfig, ListenAddress } from './gateway/config/config.ts';
import type { LoadedConfig } from './gateway/config/load.ts';
import { openTokensFile } from './gateway/config/tokens-file.ts';
import type { Gateway } from './gateway/gateway.ts';
import { createAuthenticator } from './identity/authenticate.ts';
import type { Authenticator } from './identity/authenticator.ts';
import { NO_TOKENS } from './identity/static-token.ts';
import { sleep, systemClock, type Clock } from './kernel/clock.ts';
import type { Logger } from './kernel/logger.ts';
import { systemRandom, type Random } from './kernel/random.ts';
import type { Surface } from './runtime/surface.ts';
import { lockDataDirectory, type DataLock } from './stores/sqlite/data-lock.ts';

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
  /** Resolves when the only caller that there can be has left: over stdio. */
  readonly closed: Promise<void>;
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
  const lock = await lockDataDirectory(config.data);
  const { data, log: wanted } = config;
  const overStdio = overrides.stdio !== undefined;
  const log = orRelease(lock, () =>
    openProcessLog({ data, log: wanted, clock, overStdio, sink: overrides.log }),
  );
  const teardown = createTeardown(log.logger);
  teardown.add('log', () => log.close());
  teardown.add('lock', () => lock.release());
  const foundation = { config, clock, random, logger: log.logger, teardown, overrides };
  try {
    return await assemble(foundation, adminAddress(config, { origins, overrides }));
  } catch (error) {
    await teardown.run(0);
    throw error;
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
  const authenticator = authenticatorOf(foundation, home);
  const gateway = createUpstreamSide({
    ...shared,
    manifests: home.store.manifests,
    childrenFile: home.childrenFile,
  });
  teardown.add('upstreams', (graceMs) => gateway.stop(Math.min(graceMs, UPSTREAM_END_MS)));
  const receiving = createReceivingSide({ ...shared, store: home.store, gateway, keys: home.keys });
  const entrance = createEntrance(receiving, clock);
  teardown.add('work', entrance.close);
  const parts = { foundation, home, gateway, receiving };
  await Promise.race([gateway.start(), sleep(clock, UPSTREAM_START_MS)]);
  await receiving.runtime.recover();
  const front = entrance.open(await openFront(parts, authenticator));
  const adminUrl = await openAdmin(parts, { front, address: admin });
  receiving.engine.start(receiving.runtime.runAttempt);
  receiving.runtime.startSweeping();
  logger.info('gateway.started', { version: PRODUCT.version, mcpUrl: front.mcpUrl, adminUrl });
  return {
    mcpUrl: front.mcpUrl,
    adminUrl,
    localToken: home.localToken,
    surface: gateway.surface,
    upstreams: () => gateway.manifests().map(statusOf),
    closed: front.closed,
    stop: (graceMs) => teardown.run(graceMs),
  };
}

interface Parts {
  readonly foundation: Foundation;
  readonly home: DataHome;
  readonly gateway: Gateway;
  readonly receiving: ReceivingSide;
}

interface Entrance {
  open(front: Front): Front;
  close(graceMs: number): Promise<void>;
}

/** Callers are let go only after the work that they wait for has had its time, so that they get its answers. */
function createEntrance(receiving: ReceivingSide, clock: Clock): Entrance {
  let opened: Front | undefined;
  return {
    open: (front) => (opened = front),
    async close(graceMs) {
      const whileAnswering = (): Promise<void> => endWork(receiving, clock, graceMs);
      await (opened ? opened.close(whileAnswering) : whileAnswering());
    },
  };
}

function openFront(parts: Parts, authenticator: Authenticator): Promise<Front> {
  const { foundation, home, gateway, receiving } = parts;
  const { config, clock, random, logger, overrides } = foundation;
  const options: FaceOptions = {
    receiver: receiving.runtime.receiver,
    surface: gateway.surface,
    authenticator,
    sealer: home.keys.sealer,
    clock,
    random,
    logger,
    allowedHosts: reachableNames(config.listen.mcp, config.listen.allowedHosts),
    maxBodyBytes: config.limits.requestBytes,
    product: PRODUCT,
  };
  const { stdio } = overrides;
  return stdio
    ? Promise.resolve(openStdioFront(options, stdio))
    : openHttpFront(options, config.listen.mcp);
}

function authenticatorOf(
  { config, clock, logger }: Foundation,
  { localToken }: DataHome,
): Authenticator {
  const { tokens: path, allowAnonymous } = config.identity;
  return createAuthenticator({
    tokens: path === undefined ? NO_TOKENS : openTokensFile({ path, clock, logger }),
    allowAnonymous,
    clock,
    ...(localToken === undefined ? {} : { localToken }),
  });
}

interface AdminPlace {
  readonly front: Front;
  readonly address: ListenAddress;
}

async function openAdmin(parts: Parts, { front, address }: AdminPlace): Promise<string> {
  const { foundation, home, gateway, receiving } = parts;
  const { config, clock, logger, teardown } = foundation;
  const door = await openAdminDoor(
    {
      store: home.store,
      runtime: receiving.runtime,
      surface: gateway.surface,
      upstreams: () => gateway.manifests().map(statusOf),
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
  return overrides.stdio && !isChosen ? { ...config.listen.admin, port: 0 } : config.listen.admin;
}
