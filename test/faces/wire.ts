import { isJsonObject, objectAt, type JsonObject } from '../../src/kernel/json.ts';

export const VERSION_META = 'io.modelcontextprotocol/protocolVersion';
export const CAPABILITIES_META = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL_META = 'io.modelcontextprotocol/logLevel';
export const SERVER_INFO_META = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_META = 'io.modelcontextprotocol/subscriptionId';
export const RELATED_META = 'io.modelcontextprotocol/related-task';
export const TASKS = 'io.modelcontextprotocol/tasks';

export const WITH_TASKS: JsonObject = { extensions: { [TASKS]: {} } };
export const WITH_FORMS: JsonObject = { elicitation: {} };
export const WITH_ALL: JsonObject = { ...WITH_TASKS, ...WITH_FORMS };

/** One server-sent event. */
export interface SseEvent {
  readonly id?: string;
  readonly retry?: string;
  readonly data: string;
}

/** Reads a response as it comes in: whole events, and comments by themselves. */
export interface SseReader {
  /** The next event with a message that fits; rejects when the stream ends before. */
  message(fits?: (message: JsonObject) => boolean): Promise<JsonObject>;
  /** The next event, whatever it carries. */
  event(): Promise<SseEvent>;
  comment(): Promise<string>;
  /** Resolves when the server has ended the stream; with the messages that were left. */
  rest(): Promise<readonly JsonObject[]>;
  cancel(): Promise<void>;
}

type Block = { readonly event: SseEvent } | { readonly comment: string } | { readonly end: true };

function parseBlock(text: string): Block {
  const fields: Record<string, string> = { data: '' };
  for (const line of text.split('\n')) {
    if (line.startsWith(':')) return { comment: line.slice(1).trim() };
    const [, name = '', value = ''] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
    fields[name] = value;
  }
  return { event: fields as unknown as SseEvent };
}

export function readSse(body: ReadableStream<Uint8Array>): SseReader {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const blocks: Block[] = [];
  let text = '';
  const pull = async (): Promise<void> => {
    const { done, value } = await reader.read();
    if (done) return void blocks.push({ end: true });
    text += decoder.decode(value, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    blocks.push(...parts.map(parseBlock));
  };
  const block = async (): Promise<Block> => {
    const first = blocks.shift();
    if (first) return first;
    await pull();
    return block();
  };
  const event = async (): Promise<SseEvent> => {
    const next = await block();
    if ('end' in next) throw new Error('the stream has ended');
    return 'event' in next ? next.event : event();
  };
  const message: SseReader['message'] = async (fits = () => true) => {
    const { data } = await event();
    const parsed: unknown = data === '' ? undefined : JSON.parse(data);
    return isJsonObject(parsed) && fits(parsed) ? parsed : message(fits);
  };
  return {
    event,
    message,
    async comment() {
      const next = await block();
      if ('end' in next) throw new Error('the stream has ended');
      return 'comment' in next ? next.comment : this.comment();
    },
    async rest() {
      const left: JsonObject[] = [];
      for (let next = await block(); !('end' in next); next = await block())
        if ('event' in next && next.event.data !== '')
          left.push(JSON.parse(next.event.data) as JsonObject);
      return left;
    },
    cancel: () => reader.cancel(),
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body, or the last message of a stream. */
  readonly body: JsonObject;
  /** Every message of a stream, in order. */
  readonly messages: readonly JsonObject[];
}

export const resultOf = (answer: { readonly body: JsonObject } | JsonObject): JsonObject => {
  const body = ('body' in answer && isJsonObject(answer.body) ? answer.body : answer) as JsonObject;
  const result = objectAt(body, 'result');
  if (!result) throw new Error(`no result: ${JSON.stringify(body)}`);
  return result;
};

export const errorOf = (answer: { readonly body: JsonObject } | JsonObject): JsonObject => {
  const body = ('body' in answer && isJsonObject(answer.body) ? answer.body : answer) as JsonObject;
  const error = objectAt(body, 'error');
  if (!error) throw new Error(`no error: ${JSON.stringify(body)}`);
  return error;
};

export const textOf = (result: JsonObject): string =>
  JSON.stringify((result['content'] as readonly JsonObject[] | undefined)?.[0]?.['text']);

async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  if (headers.get('content-type') === 'text/event-stream' && response.body) {
    const messages = await readSse(response.body).rest();
    return { status, headers, text: '', body: messages.at(-1) ?? {}, messages };
  }
  const text = await response.text();
  const parsed: unknown = text === '' ? {} : JSON.parse(text);
  return { status, headers, text, body: isJsonObject(parsed) ? parsed : {}, messages: [] };
}

type Headed = Readonly<Record<string, string>>;

export const auth = (token: string | undefined): Headed =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

const JSON_HEADERS: Headed = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export async function postRaw(
  url: string,
  body: string,
  {
    headers = {},
    signal,
  }: { readonly headers?: Headed; readonly signal?: AbortSignal | undefined } = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body,
    ...(signal ? { signal } : {}),
  });
}

/** The same, read to its end. */
export const post = async (...args: Parameters<typeof postRaw>): Promise<Answer> =>
  readAnswer(await postRaw(...args));

let ids = 0;
export const nextId = (): number => (ids += 1);

/** A caller of 2026-07-28. */
export interface Caller2026 {
  open(method: string, params?: JsonObject, but?: Sending): Promise<Response>;
  call(method: string, params?: JsonObject, but?: Sending): Promise<Answer>;
  tool(name: string, args?: JsonObject, but?: Sending): Promise<Answer>;
  request(
    method: string,
    params?: JsonObject,
    but?: Sending,
  ): { readonly body: JsonObject; readonly headers: Headed };
}

export interface Sending {
  readonly id?: number | string;
  readonly capabilities?: JsonObject;
  readonly meta?: JsonObject;
  readonly headers?: Headed;
  readonly signal?: AbortSignal;
}

const NAMES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

export function caller2026(
  url: string,
  token: string | undefined,
  capabilities: JsonObject = WITH_ALL,
): Caller2026 {
  const request: Caller2026['request'] = (method, params = {}, but = {}) => {
    const meta = {
      [VERSION_META]: '2026-07-28',
      [CAPABILITIES_META]: but.capabilities ?? capabilities,
      ...but.meta,
    };
    const named = params[NAMES[method] ?? ''];
    return {
      body: { jsonrpc: '2.0', id: but.id ?? nextId(), method, params: { ...params, _meta: meta } },
      headers: {
        ...auth(token),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
        ...but.headers,
      },
    };
  };
  const open: Caller2026['open'] = (method, params, but = {}) => {
    const { body, headers } = request(method, params, but);
    return postRaw(url, JSON.stringify(body), { headers, signal: but.signal });
  };
  const call: Caller2026['call'] = async (method, params, but) =>
    readAnswer(await open(method, params, but));
  return {
    request,
    open,
    call,
    tool: (name, args = {}, but) => call('tools/call', { name, arguments: args }, but),
  };
}

/** A session of 2025-11-25 or older. */
export interface Caller2025 {
  readonly sessionId: string;
  readonly initialized: JsonObject;
  open(method: string, params?: JsonObject, but?: Sending): Promise<Response>;
  call(method: string, params?: JsonObject, but?: Sending): Promise<Answer>;
  tool(
    name: string,
    args?: JsonObject,
    but?: Sending & { readonly task?: JsonObject },
  ): Promise<Answer>;
  send(message: JsonObject): Promise<Response>;
  respond(request: JsonObject, result: JsonObject): Promise<Response>;
  listen(lastEventId?: string): Promise<SseReader>;
  readonly headers: Headed;
}

export interface Greeting {
  readonly version?: string;
  readonly capabilities?: JsonObject;
}

export async function initialize(
  url: string,
  token: string | undefined,
  greeting: Greeting = {},
): Promise<Answer> {
  const params = {
    protocolVersion: greeting.version ?? '2025-11-25',
    capabilities: greeting.capabilities ?? WITH_FORMS,
    clientInfo: { name: 'test', version: '1' },
  };
  const body = { jsonrpc: '2.0', id: nextId(), method: 'initialize', params };
  return post(url, JSON.stringify(body), { headers: auth(token) });
}

export async function caller2025(
  url: string,
  token: string | undefined,
  greeting: Greeting = {},
): Promise<Caller2025> {
  const answer = await initialize(url, token, greeting);
  const sessionId = answer.headers.get('mcp-session-id') ?? '';
  const initialized = resultOf(answer);
  const version = String(initialized['protocolVersion']);
  const headers = { ...auth(token), 'mcp-session-id': sessionId, 'mcp-protocol-version': version };
  const send = (message: JsonObject): Promise<Response> =>
    postRaw(url, JSON.stringify({ jsonrpc: '2.0', ...message }), { headers });
  await send({ method: 'notifications/initialized' });
  const open: Caller2025['open'] = (method, params = {}, but = {}) => {
    const withMeta = but.meta ? { ...params, _meta: but.meta } : params;
    const body = { jsonrpc: '2.0', id: but.id ?? nextId(), method, params: withMeta };
    return postRaw(url, JSON.stringify(body), {
      headers: { ...headers, ...but.headers },
      signal: but.signal,
    });
  };
  const call: Caller2025['call'] = async (method, params, but) =>
    readAnswer(await open(method, params, but));
  return {
    sessionId,
    initialized,
    headers,
    open,
    call,
    send,
    tool: (name, args = {}, but = {}) =>
      call('tools/call', { name, arguments: args, ...(but.task ? { task: but.task } : {}) }, but),
    respond: (request, result) => send({ id: request['id'], result }),
    async listen(lastEventId) {
      const response = await fetch(url, {
        headers: {
          accept: 'text/event-stream',
          ...headers,
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
      });
      if (response.status !== 200 || !response.body)
        throw new Error(`GET answered ${response.status}`);
      return readSse(response.body);
    },
  };
}

/** Opens a call and reads its stream message by message. */
export async function stream(opened: Promise<Response>): Promise<SseReader> {
  const response = await opened;
  if (!response.body || response.headers.get('content-type') !== 'text/event-stream')
    throw new Error(`no stream: ${response.status} ${await response.text()}`);
  return readSse(response.body);
}

export const isMethod =
  (method: string) =>
  (message: JsonObject): boolean =>
    message['method'] === method;
