import { createMetricsRoute } from '../admin/metrics-route.ts';
import type { AdminOptions } from '../admin/options.ts';
import type { FaceOptions } from '../faces/mcp/face.ts';
import type { GatewayConfig, ListenAddress } from '../gateway/config/config.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { MayStill } from '../identity/standing.ts';
import type { Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import { CONNECTIONS_MAX, createInProcessPeer } from '../library/in-process-peer.ts';
import { createHandle, runAdopted } from '../library/run-tool.ts';
import type { ServerSource } from '../library/servers.ts';
import { SERVER } from '../library/settings.ts';
import type { ToolBook } from '../library/tool-book.ts';
import { JOB_HELPERS } from '../runtime/job-tools.ts';
import type { RouteMeter } from '../runtime/route-meter.ts';
import type { ManifestStore } from '../stores/manifests.ts';
import { openAdminDoor } from './admin-door.ts';
import type { DataHome } from './data-home.ts';
import { writeEndpointFile } from './endpoint-file.ts';
import { PRODUCT } from './product.ts';
import { createReceivingSide, type ReceivingSide } from './receiving-side.ts';
import type { Teardown } from './teardown.ts';
import { messageBytesMax, statusOf } from './upstream-side.ts';

const UPSTREAM_END_MS = 2_000;
const ADMIN_END_MS = 500;

/** What a server of the library stands on, open before there is anything to serve. */
export interface TasksFoundation {
  readonly config: GatewayConfig;
  /** Where operators are served, if they are. */
  readonly admin?: ListenAddress;
  readonly home: DataHome;
  readonly authenticator: Authenticator;
  /** Whether the owner of a call may still make it; absent where who calls is known to the author alone. */
  readonly mayStill?: MayStill;
  /** Where pages confirm over HTTP. */
  readonly confirmUrl: string | undefined;
  readonly routes: RouteMeter;
  readonly book: ToolBook;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly teardown: Teardown;
}

/** A server that serves: what faces need, and what there is to tell about it. */
export interface Serving {
  readonly gateway: Gateway;
  readonly receiving: ReceivingSide;
  readonly faceOptions: FaceOptions;
  readonly adminUrl?: string;
  metrics(): Promise<string>;
}

/** A server in this process is asked anew at each start: what an earlier one said is nothing to go by. */
const NO_MANIFESTS: ManifestStore = {
  get: () => Promise.resolve(undefined),
  put: () => Promise.resolve(),
};

/**
 * Connects to the author's server, takes up what an earlier process has left, and begins to work. Rejects with
 * LONGCALL_UPSTREAM_UNREACHABLE where the server cannot be had.
 */
export async function startServing(
  foundation: TasksFoundation,
  source: ServerSource,
): Promise<Serving> {
  const { home, clock, random, logger, config, teardown, book } = foundation;
  const gateway = createServerSide(foundation, source);
  teardown.add('server', (graceMs) => gateway.stop(Math.min(graceMs, UPSTREAM_END_MS)));
  await gateway.start();
  mustBeUp(gateway);
  const receiving = createReceivingSide({
    config,
    store: home.store,
    blobs: home.blobs,
    gateway: { ...gateway, runTool: runAdopted(gateway) },
    handle: createHandle({ gateway, clock }),
    confirmUrl: () => foundation.confirmUrl,
    ...(foundation.mayStill ? { mayStill: foundation.mayStill } : {}),
    keys: home.keys,
    clock,
    random,
    logger,
  });
  await receiving.runtime.recover();
  const operators = operatorsOf(foundation, { gateway, receiving });
  const adminUrl = await openOperators(foundation, operators);
  receiving.engine.start(receiving.runtime.runAttempt);
  receiving.runtime.startSweeping();
  warnOf(gateway, book, logger);
  const metrics = createMetricsRoute(operators, { denied: () => 0 });
  return {
    gateway,
    receiving,
    faceOptions: faceOptionsOf(foundation, { gateway, receiving }),
    ...(adminUrl === undefined ? {} : { adminUrl }),
    metrics: async () => (await metrics.request('/')).text(),
  };
}

function createServerSide(foundation: TasksFoundation, source: ServerSource): Gateway {
  const { config, clock, random, logger, book } = foundation;
  return createGateway({
    upstreams: [
      {
        ...createInProcessPeer(source),
        name: SERVER,
        prefix: '',
        connectionsMax: CONNECTIONS_MAX,
        policyOf: book.policyOf,
      },
    ],
    manifests: NO_MANIFESTS,
    clock,
    random,
    logger,
    clientInfo: PRODUCT,
    resultBytesMax: messageBytesMax(config.limits, true),
    reservedNames: config.jobTools === 'off' ? [] : JOB_HELPERS,
  });
}

function mustBeUp(gateway: Gateway): void {
  const [manifest] = gateway.manifests();
  if (manifest?.state === 'up') return;
  throw new LongcallError(
    'LONGCALL_UPSTREAM_UNREACHABLE',
    `your server cannot be served: ${manifest?.problem ?? 'it gave no answer'}`,
  );
}

/** What is said of tools that an author should know before the first interruption shows it. */
function warnOf(gateway: Gateway, book: ToolBook, logger: Logger): void {
  const tools = gateway.surface.tools();
  for (const name of book.adopted())
    if (!tools.some((tool) => tool.name === name))
      logger.warn('tasks.adopted_tool_missing', { tool: name });
  for (const { name, effect } of tools)
    if (book.originOf(name) === 'adopted' && effect !== 'read')
      logger.warn('tasks.interruption_leaves_outcome_unknown', { tool: name, effect });
}

type Parts = Pick<Serving, 'gateway' | 'receiving'>;

function faceOptionsOf(foundation: TasksFoundation, { gateway, receiving }: Parts): FaceOptions {
  const { config, home, authenticator, routes, clock, random, logger } = foundation;
  return {
    receiver: receiving.runtime.receiver,
    surface: gateway.surface,
    authenticator,
    sealer: home.keys.sealer,
    clock,
    random,
    logger,
    allowedHosts: config.listen.allowedHosts,
    maxBodyBytes: config.limits.requestBytes,
    statusReads: config.limits.statusReads,
    product: PRODUCT,
    jobTools: config.jobTools,
    routes,
  };
}

function operatorsOf(foundation: TasksFoundation, { gateway, receiving }: Parts): AdminOptions {
  const { config, home, routes, clock, logger } = foundation;
  return {
    routes,
    store: home.store,
    runtime: receiving.runtime,
    surface: gateway.surface,
    upstreams: () => gateway.manifests().map(statusOf),
    adminToken: home.adminToken,
    allowedHosts: config.listen.allowedHosts,
    hashId: home.keys.hashId,
    clock,
    logger,
    startedAt: clock.now(),
    info: { version: PRODUCT.version, dataDirectory: config.data },
  };
}

async function openOperators(
  { admin, config, teardown }: TasksFoundation,
  options: AdminOptions,
): Promise<string | undefined> {
  if (admin === undefined) return undefined;
  const door = await openAdminDoor(options, admin);
  teardown.add('admin', () => door.close(ADMIN_END_MS));
  const endpoint = { adminUrl: door.origin, pid: process.pid };
  teardown.add('endpoint', writeEndpointFile(config.data, endpoint));
  return door.origin;
}
