import { openChannel } from './channel.ts';
import type { Channel, Message } from './channel.ts';
import type { Pipe } from './pipe.ts';

type Json = Readonly<Record<string, unknown>>;
type HeaderChanges = Readonly<Record<string, string | undefined>>;

/** The one response to a request, with what HTTP said of it. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly isStream: boolean;
  readonly result: Json | undefined;
  readonly error:
    { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
  /** Everything that came, in order: notifications, requests and the response. */
  readonly messages: readonly Message[];
}

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';

/** What a request of 2026-07-28 declares unless a check says otherwise: everything but URL questions. */
export const DECLARES_ALL: Json = {
  elicitation: {},
  sampling: {},
  roots: {},
  extensions: { [TASKS_EXTENSION]: {} },
};
/** The same without tasks. */
export const DECLARES_NO_TASKS: Json = { elicitation: {}, sampling: {}, roots: {} };

const BASE_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** Changes headers; undefined takes one away. */
function withChanges(
  headers: Readonly<Record<string, string>>,
  changes: HeaderChanges = {},
): Record<string, string> {
  const merged = Object.entries({ ...headers, ...changes });
  return Object.fromEntries(
    merged.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Waits for the response to the request with this id. */
export async function replyOf(channel: Channel, id: unknown): Promise<Reply> {
  const isResponse = (message: Message): boolean =>
    message['method'] === undefined && (message['id'] === id || !channel.isStream);
  const message = await channel.waitFor(isResponse, `the response to ${String(id)}`);
  const { status, headers, isStream, received } = channel;
  const result = message['result'] as Reply['result'];
  return {
    status,
    headers,
    isStream,
    messages: received,
    result,
    error: message['error'] as Reply['error'],
  };
}

/** Where a client of a check sends its requests, and as whom. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Pipes take the place of HTTP. Each has one session, so that every way to open one has a pipe of its own. */
  readonly pipeFor?: (options: SessionOptions) => Pipe;
}

/** What a request over a pipe cannot have: a check that needs it is about HTTP. */
function mustNotNeedHttp(parts: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(parts).filter((name) => parts[name] !== undefined);
  if (given.length > 0) throw new Error(`a pipe has no ${given.join(', ')}`);
}

/** How one request of 2026-07-28 departs from the rule. */
export interface Options2026 {
  readonly capabilities?: Json;
  readonly headers?: HeaderChanges;
  /** Further members of `_meta`; undefined takes a required one away. */
  readonly meta?: Json;
  /** Makes the client go away, even before there is an answer. */
  readonly signal?: AbortSignal;
}

export interface Client2026 {
  request(method: string, params?: Json, options?: Options2026): Promise<Reply>;
  /** Sends a request whose answer the check reads as it comes. Its id is in `id`. */
  open(
    method: string,
    params?: Json,
    options?: Options2026,
  ): Promise<Channel & { readonly id: string }>;
}

const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

let requests = 0;
const nextId = (): string => `request-${(requests += 1)}`;

/** A client of 2026-07-28: every request is complete in itself, and any part of it can be made wrong. */
export function createClient2026({ url, headers, pipeFor }: Endpoint): Client2026 {
  const open: Client2026['open'] = async (method, params = {}, options = {}) => {
    const id = nextId();
    const _meta = {
      [VERSION_KEY]: '2026-07-28',
      [CAPABILITIES_KEY]: options.capabilities ?? DECLARES_ALL,
      ...options.meta,
    };
    const message = { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
    if (pipeFor) {
      mustNotNeedHttp({ headers: options.headers, signal: options.signal });
      return { ...pipeFor({}).open(message), id };
    }
    const named = params[NAMED_BY[method] ?? ''];
    const sent = withChanges(
      {
        ...BASE_HEADERS,
        ...headers,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
      },
      options.headers,
    );
    const body = JSON.stringify(message);
    const signal = options.signal ?? null;
    return { ...(await openChannel(url, { method: 'POST', headers: sent, body, signal })), id };
  };
  return {
    open,
    async request(...args) {
      const channel = await open(...args);
      return replyOf(channel, channel.id);
    },
  };
}

/** How a session of 2025-11-25 is opened. */
export interface SessionOptions {
  readonly capabilities?: Json;
  readonly protocolVersion?: string;
}

export interface Session2025 {
  readonly id: string;
  /** Everything comes on one stream, whatever was opened. */
  readonly isPipe: boolean;
  readonly initialized: Json;
  request(method: string, params?: Json, headers?: HeaderChanges): Promise<Reply>;
  open(
    method: string,
    params?: Json,
    headers?: HeaderChanges,
  ): Promise<Channel & { readonly id: string }>;
  /** Posts a message that is no request: a notification or a response. */
  post(message: Json, headers?: HeaderChanges): Promise<Channel>;
  /** Answers a request of the server. */
  respond(request: Message, result: Json): Promise<Channel>;
  /** Opens the standalone stream. */
  listen(): Promise<Channel>;
  /** Ends the session and returns the HTTP status of that. */
  end(): Promise<number>;
}

export const VERSION_2025 = '2025-11-25';

/** Opens a session and tells the server that it is initialized. */
export async function openSession(
  { url, headers, pipeFor }: Endpoint,
  options: SessionOptions = {},
): Promise<Session2025> {
  const protocolVersion = options.protocolVersion ?? VERSION_2025;
  const capabilities = options.capabilities ?? { elicitation: {}, sampling: {}, roots: {} };
  const clientInfo = { name: 'wire-check', version: '1.0.0' };
  const params = { protocolVersion, capabilities, clientInfo };
  const id = nextId();
  const greeting = { jsonrpc: '2.0', id, method: 'initialize', params };
  if (pipeFor) return sessionOver(pipeFor(options), { ...greeting, id });
  const body = JSON.stringify(greeting);
  const opened = await openChannel(url, {
    method: 'POST',
    headers: { ...BASE_HEADERS, ...headers },
    body,
  });
  const { result, error } = await replyOf(opened, id);
  if (!result) throw new Error(`initialize was refused: ${JSON.stringify(error)}`);
  const sessionId = opened.headers.get('mcp-session-id') ?? '';
  const own = {
    ...BASE_HEADERS,
    ...headers,
    'mcp-session-id': sessionId,
    'mcp-protocol-version': String(result['protocolVersion']),
  };
  const session = createSession(
    { id: sessionId, isPipe: false, initialized: result },
    overHttp(url, own),
  );
  await session.post({ method: 'notifications/initialized' });
  return session;
}

/** How a session's messages travel. */
interface Carrier {
  send(message: Json, changes?: HeaderChanges): Promise<Channel>;
  listen(): Promise<Channel>;
  end(): Promise<number>;
}

const overHttp = (url: string, own: Readonly<Record<string, string>>): Carrier => ({
  send: (message, changes) =>
    openChannel(url, {
      method: 'POST',
      headers: withChanges(own, changes),
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    }),
  listen: () =>
    openChannel(url, { method: 'GET', headers: { ...own, accept: 'text/event-stream' } }),
  async end() {
    const response = await fetch(url, { method: 'DELETE', headers: own });
    return response.status;
  },
});

const overPipe = (pipe: Pipe): Carrier => ({
  async send(message, changes = {}) {
    mustNotNeedHttp({ headers: Object.keys(changes).at(0) });
    return pipe.open(message);
  },
  listen: () => Promise.resolve(pipe.listen()),
  end: () => Promise.reject(new Error('a pipe has no session to end but itself')),
});

/** The one session of each pipe. */
const pipeSessions = new WeakMap<Pipe, Promise<Session2025>>();

function sessionOver(
  pipe: Pipe,
  greeting: Message & { readonly id: string },
): Promise<Session2025> {
  const existing = pipeSessions.get(pipe);
  if (existing) return existing;
  const opening = replyOf(pipe.open(greeting), greeting.id).then(async ({ result, error }) => {
    if (!result) throw new Error(`initialize was refused: ${JSON.stringify(error)}`);
    const session = createSession({ id: '', isPipe: true, initialized: result }, overPipe(pipe));
    await session.post({ method: 'notifications/initialized' });
    return session;
  });
  pipeSessions.set(pipe, opening);
  return opening;
}

function createSession(
  facts: Pick<Session2025, 'id' | 'isPipe' | 'initialized'>,
  { send, listen, end }: Carrier,
): Session2025 {
  const open: Session2025['open'] = async (method, params = {}, changes = {}) => {
    const id = nextId();
    return { ...(await send({ id, method, params }, changes)), id };
  };
  return {
    ...facts,
    open,
    post: send,
    async request(...args) {
      const channel = await open(...args);
      return replyOf(channel, channel.id);
    },
    respond: (request, result) => send({ id: request['id'], result }),
    listen,
    end,
  };
}
