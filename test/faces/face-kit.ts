import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { createHttpFace } from '../../src/faces/mcp/http-face.ts';
import { createStdioFace } from '../../src/faces/mcp/stdio-face.ts';
import type { FaceOptions, HttpFace, StdioFace } from '../../src/faces/mcp/face.ts';
import type { Authenticator } from '../../src/identity/authenticator.ts';
import { localPrincipal, type Principal } from '../../src/identity/principal.ts';
import { systemClock, type Clock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { silentLogger, type Logger } from '../../src/kernel/logger.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createSealer } from '../../src/kernel/seal.ts';
import type { Job, RunEnd, RunTool } from '../../src/runtime/job.ts';
import type { Receiver } from '../../src/runtime/receiver.ts';
import {
  RpcFailure,
  type ForwardRequest,
  type Surface,
  type SurfaceEvent,
} from '../../src/runtime/surface.ts';
import type { HandleJob } from '../../src/runtime/steps/with-journal.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import { createReceivingSide, readTool, type ReceivingSide } from '../runtime/receiving-side.ts';
import {
  ALICE,
  ANYONE,
  answered,
  BOB,
  CAROL,
  stopped,
  toldToStop,
} from '../runtime/receiving-side.ts';

const KEY = new Uint8Array(32).fill(9);

/** A tool by name, read-only and task-optional with no window unless said otherwise. */
export const tool = (name: string, but: Partial<ServedTool> = {}): ServedTool => ({
  ...readTool,
  name,
  upstreamName: name,
  definition: { name, description: name, inputSchema: { type: 'object' } },
  ...but,
});

const FORM = {
  message: 'go on?',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
} as const;

export const formParams = (message: string = FORM.message): JsonObject => ({ ...FORM, message });

/** What the handlers of the kit's tools do. */
const HANDLERS: Readonly<Record<string, (job: Job) => Promise<RunEnd>>> = {
  async echo({ request }) {
    return answered(`echo ${JSON.stringify(request.arguments)}`);
  },
  async fails() {
    return {
      outcome: {
        kind: 'result',
        result: { content: [{ type: 'text', text: 'no luck' }], isError: true },
      },
      end: 'answered',
      reason: 'answered',
    };
  },
  async breaks() {
    return {
      outcome: {
        kind: 'error',
        error: { code: -32_055, message: 'broken', data: { why: 'test' } },
      },
      end: 'answered',
      reason: 'answered',
    };
  },
  async hangs({ signal, dispatched }) {
    await dispatched();
    await toldToStop(signal);
    return stopped;
  },
  async asks({ ask }) {
    const [reply] = await ask([{ method: 'elicitation/create', params: formParams() }]);
    return answered(`asked ${JSON.stringify(reply)}`);
  },
  async asks_two({ ask }) {
    const replies = await ask([
      { method: 'elicitation/create', params: formParams('first?') },
      { method: 'elicitation/create', params: formParams('second?') },
    ]);
    return answered(`asked ${replies.map(({ kind }) => kind).join(' ')}`);
  },
  async asks_twice({ ask }) {
    const first = await ask([{ method: 'elicitation/create', params: formParams('first?') }]);
    const second = await ask([{ method: 'elicitation/create', params: formParams('second?') }]);
    return answered(`asked ${JSON.stringify([...first, ...second])}`);
  },
};

export const TOOLS: readonly ServedTool[] = [
  tool('echo'),
  tool('fails'),
  tool('breaks'),
  tool('hangs'),
  tool('asks'),
  tool('asks_two'),
  tool('asks_twice'),
  tool('required', { mode: 'task-required' }),
  tool('sync', { mode: 'sync' }),
  tool('plain', { mode: 'passthrough' }),
  tool('refused', { mode: 'refuse' }),
  tool('gated'),
];

export interface KitOptions {
  readonly tools?: readonly ServedTool[];
  readonly allowAnonymous?: boolean;
  readonly forward?: (request: ForwardRequest) => Promise<JsonObject>;
  readonly capabilities?: JsonObject;
  readonly face?: Partial<FaceOptions>;
  readonly logger?: Logger;
  /** Wraps the receiver, to see or to delay what the face asks of it. */
  readonly receiver?: (receiver: Receiver) => Receiver;
  readonly open?: number;
  /** What tools with a journal do. */
  readonly handle?: HandleJob;
  readonly confirmUrl?: () => string | undefined;
  /** The database file; a new one where absent. */
  readonly path?: string;
  readonly clock?: Clock;
}

/** A handler that a test steers: it hands the job over and waits for its end. */
export interface Gate {
  /** The next job of the tool `gated`. */
  next(): Promise<Job>;
  end(job: Job, end: RunEnd): void;
}

export interface Kit {
  readonly side: ReceivingSide;
  readonly surface: TestSurface;
  readonly gate: Gate;
  readonly options: FaceOptions;
  /** What the face called of the receiver, in order. */
  readonly calls: readonly string[];
  http(): Promise<HttpSide>;
  stdio(principal?: Principal): StdioSide;
}

export interface HttpSide {
  readonly url: string;
  readonly face: HttpFace;
  readonly server: Server;
}

export interface StdioSide {
  readonly face: StdioFace;
  readonly input: PassThrough;
  readonly output: PassThrough;
  send(message: unknown): void;
  /** The next message of the output that fits; messages before it are dropped. */
  next(fits?: (message: JsonObject) => boolean): Promise<JsonObject>;
  /** Every line so far. */
  readonly lines: readonly string[];
}

export interface TestSurface extends Surface {
  emit(event: SurfaceEvent): void;
  readonly forwarded: readonly ForwardRequest[];
  readonly subscribed: readonly string[];
}

const TOKENS: Readonly<Record<string, Principal>> = { alice: ALICE, bob: BOB, carol: CAROL };
/** More principals for a test, by token. */
export const moreTokens = new Map<string, Principal>();

function authenticator(allowAnonymous: boolean): Authenticator {
  return {
    allowsAnonymous: allowAnonymous,
    authenticate(authorization) {
      if (authorization === undefined)
        return allowAnonymous
          ? { kind: 'principal', principal: ANYONE }
          : { kind: 'denied', reason: 'missing' };
      const token = /^Bearer (\S+)$/.exec(authorization)?.[1];
      if (token === undefined) return { kind: 'denied', reason: 'malformed' };
      const principal = TOKENS[token] ?? moreTokens.get(token);
      return principal ? { kind: 'principal', principal } : { kind: 'denied', reason: 'unknown' };
    },
  };
}

function createSurface(options: KitOptions): TestSurface {
  const tools = options.tools ?? TOOLS;
  const listeners = new Set<(event: SurfaceEvent) => void>();
  const forwarded: ForwardRequest[] = [];
  const subscribed: string[] = [];
  return {
    forwarded,
    subscribed,
    emit: (event) => listeners.forEach((listener) => listener(event)),
    info: () => ({
      serverInfo: { name: 'longcall', version: '0.0.0-test' },
      instructions: 'a test',
      capabilities: options.capabilities ?? {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      extensions: { 'com.example/other': { a: 1 } },
    }),
    tools: () => tools,
    tool: (name) => tools.find((served) => served.name === name),
    async forward(request) {
      forwarded.push(request);
      if (options.forward) return options.forward(request);
      throw new RpcFailure(-32_601, `method not found: ${request.method}`);
    },
    async subscribeResource(_principal, uri) {
      if (uri.startsWith('bad:')) throw new RpcFailure(-32_602, 'no such resource');
      subscribed.push(`+${uri}`);
    },
    async unsubscribeResource(_principal, uri) {
      subscribed.push(`-${uri}`);
    },
    async setLogLevel() {},
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function createGate(): Gate & { readonly handler: (job: Job) => Promise<RunEnd> } {
  const arrived: Job[] = [];
  const waiting: ((job: Job) => void)[] = [];
  const ends = new Map<Job, (end: RunEnd) => void>();
  return {
    handler: (job) =>
      new Promise((resolve) => {
        ends.set(job, resolve);
        void toldToStop(job.signal).then(() => resolve(stopped));
        const take = waiting.shift();
        if (take) take(job);
        else arrived.push(job);
      }),
    next() {
      const job = arrived.shift();
      return job ? Promise.resolve(job) : new Promise((resolve) => waiting.push(resolve));
    },
    end: (job, end) => ends.get(job)?.(end),
  };
}

/** Notes what is called, and passes it on. */
function noted(receiver: Receiver, calls: string[]): Receiver {
  return {
    ...receiver,
    handleGiven(taskId) {
      calls.push(`handleGiven ${taskId}`);
      return receiver.handleGiven(taskId);
    },
    answeredInline(taskId) {
      calls.push(`answeredInline ${taskId}`);
      return receiver.answeredInline(taskId);
    },
    abandon(taskId, how) {
      calls.push(`abandon ${taskId} ${how.stopUpstream ? 'stop' : 'leave'}`);
      return receiver.abandon(taskId, how);
    },
  };
}

/** A face on the real runtime and a real SQLite file, with scripted tools and a small surface. */
export async function createKit(options: KitOptions = {}): Promise<Kit> {
  const tools = options.tools ?? TOOLS;
  const gate = createGate();
  const run: RunTool = (job) => {
    const name = HANDLERS[job.tool.name] ? job.tool.name : (job.tool.name.split('__')[0] ?? '');
    if (name === 'gated') return gate.handler(job);
    return (HANDLERS[name] ?? HANDLERS['echo'] ?? gate.handler)(job);
  };
  const side = await createReceivingSide({
    run,
    tools,
    clock: options.clock ?? systemClock,
    ...(options.handle ? { handle: options.handle } : {}),
    ...(options.confirmUrl ? { confirmUrl: options.confirmUrl } : {}),
    ...(options.path === undefined ? {} : { path: options.path }),
    ...(options.open === undefined ? {} : { open: options.open }),
  });
  await side.open();
  const calls: string[] = [];
  const surface = createSurface(options);
  const { receiver } = side.runtime;
  const faceOptions: FaceOptions = {
    receiver: noted(options.receiver?.(receiver) ?? receiver, calls),
    surface,
    authenticator: authenticator(options.allowAnonymous ?? false),
    sealer: createSealer(KEY),
    clock: systemClock,
    random: systemRandom,
    logger: options.logger ?? silentLogger,
    allowedHosts: [],
    maxBodyBytes: 64 * 1024,
    product: { name: 'longcall', version: '0.0.0-test' },
    ...options.face,
  };
  onTestFinished(() => side.runtime.close(0));
  return {
    side,
    surface,
    gate,
    calls,
    options: faceOptions,
    http: () => serveHttp(faceOptions),
    stdio: (principal = localPrincipal()) => serveStdio(faceOptions, principal),
  };
}

async function serveHttp(options: FaceOptions): Promise<HttpSide> {
  const face = createHttpFace(options);
  const server = createServer((req, res) => face.handler(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    await face.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${port}/mcp`, face, server };
}

function serveStdio(options: FaceOptions, principal: Principal): StdioSide {
  const input = new PassThrough();
  const output = new PassThrough();
  const face = createStdioFace({ ...options, input, output, principal });
  const lines: string[] = [];
  const unread: JsonObject[] = [];
  let wake: () => void = () => undefined;
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      unread.push(JSON.parse(line) as JsonObject);
    }
    wake();
  });
  onTestFinished(() => face.close());
  const next: StdioSide['next'] = async (fits = () => true) => {
    for (let message = unread.shift(); message; message = unread.shift())
      if (fits(message)) return message;
    await new Promise<void>((resolve) => (wake = resolve));
    return next(fits);
  };
  return {
    face,
    input,
    output,
    lines,
    next,
    send: (message) =>
      void input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
  };
}
