import { createHmac } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { createAdminApp } from '../../src/admin/app.ts';
import type { UpstreamStatus } from '../../src/admin/options.ts';
import { createEmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { LogFields, Logger } from '../../src/kernel/logger.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createSealer } from '../../src/kernel/seal.ts';
import { createFixedAdmission } from '../../src/runtime/admission.ts';
import type { RunTool } from '../../src/runtime/job.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import { createSqliteStore } from '../../src/stores/sqlite/store.ts';
import type { Store } from '../../src/stores/store.ts';

export const ADMIN_TOKEN = 'lct_test-token-of-the-operators-door-0123456789';
const KEY = new Uint8Array(32).fill(7);
const GRACE_MS = 200;

export interface Door {
  readonly url: string;
  readonly store: Store;
  readonly runtime: Runtime;
  readonly directory: string;
  /** `GET /healthz` and so on, as the application has them. */
  readonly routes: readonly string[];
  /** Every line that was logged, as text. */
  readonly logged: readonly string[];
  /** `keep` leaves the store on disk, for a door that is opened after this one. */
  close(options?: { readonly keep: boolean }): Promise<void>;
}

export interface DoorOptions {
  /** What a run does; without it nothing runs, and tests move records themselves. */
  readonly run?: RunTool;
  readonly upstreams?: () => readonly UpstreamStatus[];
  readonly port?: number;
  /** Most open tasks; 100 where absent. */
  readonly open?: number;
  /** Keeps the store of an earlier door. */
  readonly directory?: string;
}

export const TOOL: ServedTool = {
  name: 'export_report',
  upstream: 'reports',
  upstreamName: 'export_report',
  mode: 'task-optional',
  effect: 'read',
  why: 'named in the configuration',
  syncWindowMs: 0,
  plainLimitMs: 60_000,
  runLimitMs: 60_000,
  inputAllowanceMs: 60_000,
  inputExpiryMs: 60_000,
  retentionMs: 60_000,
  pollIntervalMs: 1_000,
  concurrency: 4,
  definition: { name: 'export_report', inputSchema: { type: 'object' } },
};

export const hashId = (id: string): string =>
  `hash_${createHmac('sha256', KEY).update(id).digest('base64url').slice(0, 16)}`;

/** The operators' door as it stands in a gateway: real store, real runtime, real listener. */
export async function openDoor(options: DoorOptions = {}): Promise<Door> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'longcall-door-'));
  const logged: string[] = [];
  const logger = recordingLogger(logged);
  const store = await createSqliteStore({
    path: join(directory, 'longcall.db'),
    clock: systemClock,
    random: systemRandom,
  });
  const runtime = openRuntime(store, logger, options);
  const app = createAdminApp({
    store,
    runtime,
    hashId,
    logger,
    clock: systemClock,
    surface: { tools: () => [TOOL] },
    upstreams: options.upstreams ?? (() => []),
    adminToken: ADMIN_TOKEN,
    startedAt: systemClock.now(),
    info: { version: '0.0.0-test', dataDirectory: directory, mcpUrl: 'http://127.0.0.1:1/mcp' },
  });
  const { server, url } = await listen(app.fetch, options.port ?? 0);
  return {
    url,
    store,
    runtime,
    directory,
    logged,
    routes: app.routes.map(({ method, path }) => `${method} ${path}`),
    async close({ keep } = { keep: false }) {
      await closeServer(server);
      await runtime.close(GRACE_MS);
      await store.close();
      if (!keep) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function openRuntime(store: Store, logger: Logger, { run, open = 100 }: DoorOptions): Runtime {
  const bootId = newId('boot', systemRandom);
  const engine = createEmbeddedEngine({
    store,
    logger,
    owner: bootId,
    clock: systemClock,
    slots: 8,
    parkedMax: 8,
    runningPerTool: () => ({}),
    leaseMs: 15_000,
    sweepEveryMs: 5_000,
  });
  const runtime = createRuntime({
    store,
    engine,
    logger,
    bootId,
    hashId,
    clock: systemClock,
    random: systemRandom,
    admission: createFixedAdmission({ perPrincipal: open, perTenant: open, total: open }),
    sealer: createSealer(KEY),
    fingerprintKey: KEY,
    run: run ?? (() => Promise.reject(new Error('nothing runs here'))),
    toolOf: ({ tool }) => (tool === TOOL.name ? TOOL : undefined),
    limits: { stopGraceMs: 1_000 },
  });
  if (run !== undefined) engine.start(runtime.runAttempt);
  return runtime;
}

function recordingLogger(lines: string[]): Logger {
  const record = (event: string, fields: LogFields = {}): void =>
    void lines.push(`${event} ${JSON.stringify(fields)}`);
  return { debug: record, info: record, warn: record, error: record };
}

function listen(fetch: (request: Request) => Response | Promise<Response>, port: number) {
  return new Promise<{ server: Server; url: string }>((resolve) => {
    const options = { fetch, hostname: '127.0.0.1', port };
    const server = serve(options, ({ port: bound }: AddressInfo) =>
      resolve({ server, url: `http://127.0.0.1:${bound}` }),
    ) as Server;
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Asks the door with its token. */
export function ask(
  door: Pick<Door, 'url'>,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, ...(init.headers as object) };
  return fetch(`${door.url}${path}`, { ...init, headers });
}

/** The JSON body of a successful answer. */
export async function read<T = Record<string, unknown>>(
  door: Pick<Door, 'url'>,
  path: string,
  init: RequestInit = {},
): Promise<T> {
  const response = await ask(door, path, init);
  if (!response.ok)
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}
