import type { Socket } from 'node:net';
import {
  openEngineDoor,
  type EngineDesk,
  type FrontConnection,
  type Refusal,
} from '../background/engine-door.ts';
import { writeEngineRecord, type EngineRole } from '../background/engine-record.ts';
import type { FrontRequest } from '../background/handshake.ts';
import { socketPathFor } from '../background/socket-place.ts';
import { isOlder } from '../background/versions.ts';
import type { FaceOptions, StdioFace } from '../faces/mcp/face.ts';
import { createStdioFace } from '../faces/mcp/stdio-face.ts';
import { localPrincipal } from '../identity/principal.ts';
import { createDeferred } from '../kernel/deferred.ts';
import type { JsonObject } from '../kernel/json.ts';
import { projectOfUpstream } from '../protocol/upstream-name.ts';
import { scopedReceiver } from '../runtime/scoped-receiver.ts';
import type { Front } from './front.ts';
import { PRODUCT } from './product.ts';
import { projectIdOf, readProject, type Project } from './project.ts';
import { differingSettings, type EngineSettings } from './engine-settings.ts';
import type { UpstreamSets } from './upstream-sets.ts';

export interface WindowFrontOptions {
  readonly data: string;
  readonly role: EngineRole;
  readonly secret: Uint8Array;
  /** What every window is served with; each has a surface of its own. */
  readonly face: FaceOptions;
  readonly sets: UpstreamSets;
  readonly settings: EngineSettings;
  /** Tasks of upstreams that came along with a window can run now. */
  onArrival(): void;
  /** Whether there is work that would suffer from an end now. */
  isBusy(): Promise<boolean>;
  status(): Promise<JsonObject>;
}

/** Where windows of this user come in: fronts of hosts that speak stdio. */
export interface WindowFront extends Front {
  /** Connections that stand, those of commands too. */
  connectionCount(): number;
  /** How long running calls have to end, once somebody has asked for the end; in ms. */
  readonly stopAsked: Promise<number>;
}

/** How long running calls have where nobody says anything. */
const GRACE_MS = 10_000;

/** Takes in windows from now on. */
export async function openWindowFront(options: WindowFrontOptions): Promise<WindowFront> {
  const { data, role, secret } = options;
  const { clock, random, logger } = options.face;
  const stopAsked = createDeferred<number>();
  const windows = new Set<StdioFace>();
  const path = socketPathFor(data);
  const desk: EngineDesk = {
    serve: (request, connection) =>
      serve({ options, windows, door, stopAsked }, request, connection),
    status: async () => ({
      role,
      windows: windows.size,
      socket: path,
      ...(await options.status()),
    }),
    stop({ graceMs }) {
      if (role === 'gateway') return notOurs();
      stopAsked.resolve(typeof graceMs === 'number' ? graceMs : GRACE_MS);
      return undefined;
    },
  };
  const credentials = { secret, version: PRODUCT.version, random };
  const door = await openEngineDoor({ path, credentials, desk, clock, logger });
  const record = { socket: path, pid: process.pid, version: PRODUCT.version, role };
  const removeRecord = writeEngineRecord(data, record);
  return {
    closed: new Promise(() => undefined),
    stopAsked: stopAsked.promise,
    connectionCount: door.connectionCount,
    async close(whileAnswering) {
      removeRecord(); // first: by it a front tells an end in order from a death
      door.stopAccepting();
      await whileAnswering();
      await Promise.all(Array.from(windows, (window) => window.close()));
      await door.close();
    },
  };
}

interface WindowDesk {
  readonly options: WindowFrontOptions;
  readonly windows: Set<StdioFace>;
  readonly door: { connectionCount(): number };
  readonly stopAsked: { resolve(graceMs: number): void };
}

async function serve(
  desk: WindowDesk,
  request: FrontRequest,
  { socket, accept, refuse }: FrontConnection,
): Promise<void> {
  const { options } = desk;
  const project = readProject(request.body);
  const refusal =
    request.version === PRODUCT.version ? undefined : await otherVersion(desk, request.version);
  if (refusal || !project) {
    refuse(refusal ?? UNREADABLE);
    return void socket.end();
  }
  const differing = differingSettings(options.settings, request.body);
  const lease = options.sets.open(project);
  accept({ pid: process.pid, role: options.role, differing });
  try {
    await lease.ready;
    options.onArrival();
    await serveWindow(desk, { socket, project, surface: lease.gateway.surface });
  } finally {
    lease.release();
  }
}

const UNREADABLE: Refusal = {
  code: 'LONGCALL_INTERNAL',
  message: 'the front did not say what it serves',
  hint: 'start it again',
};

interface Window {
  readonly socket: Socket;
  readonly project: Project;
  readonly surface: FaceOptions['surface'];
}

/** One window: the face of one client over pipes, that shows unasked what belongs to its project, or to none. */
async function serveWindow(
  { options, windows }: WindowDesk,
  { socket, project, surface }: Window,
): Promise<void> {
  if (socket.destroyed) return;
  const own = projectIdOf(project, options.secret);
  const { receiver } = options.face;
  const face = createStdioFace({
    ...options.face,
    surface,
    receiver: scopedReceiver(receiver, ({ upstream }) =>
      [own, undefined].includes(projectOfUpstream(upstream)),
    ),
    input: socket,
    output: socket,
    principal: localPrincipal(),
  });
  windows.add(face);
  await face.closed;
  windows.delete(face);
  socket.end();
  socket.resume(); // what still comes goes nowhere, so that the end is seen
}

/** An older engine that has nothing to do makes room; one at work is not ended by whoever opens a window. */
async function otherVersion(
  { options, door, stopAsked }: WindowDesk,
  version: string,
): Promise<Refusal> {
  const { role } = options;
  const what = `process ${process.pid}, longcall ${PRODUCT.version}, serves ${options.data}; this is longcall ${version}`;
  const isIdle = door.connectionCount() <= 1 && !(await options.isBusy());
  if (role === 'engine' && isOlder(PRODUCT.version, version) && isIdle) {
    stopAsked.resolve(0);
    return { code: 'LONGCALL_ENGINE_VERSION', message: what, hint: 'it makes room', again: true };
  }
  const hint =
    role === 'engine'
      ? '`longcall engine restart` puts this version in its place'
      : 'run both with the same version';
  return { code: 'LONGCALL_ENGINE_VERSION', message: what, hint };
}

const notOurs = (): Refusal => ({
  code: 'LONGCALL_REFUSED_BY_POLICY',
  message: `process ${process.pid} is a gateway that somebody runs, no background engine`,
  hint: 'end it where it was started',
});
