// Two small clients, one per protocol generation: plain JSON-RPC over HTTP, so that nothing is hidden.
import { setTimeout as delay } from 'node:timers/promises';

export type Body = Record<string, unknown>;

export interface Reply {
  readonly headers: Headers;
  readonly result: Body;
}

async function post(url: string, headers: Record<string, string>, message: Body): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  const reply = (await readReply(response)) as
    { result?: Body; error?: { message: string } } | undefined;
  if (reply?.error) throw new Error(reply.error.message);
  return { headers: response.headers, result: reply?.result ?? {} };
}

/** The JSON body, or the last event of a stream: the response ends it. */
async function readReply(response: Response): Promise<unknown> {
  const body = await response.text();
  if (!response.headers.get('content-type')?.includes('text/event-stream'))
    return body ? JSON.parse(body) : undefined;
  const events = body.split('\n').filter((line) => line.startsWith('data: {'));
  const last = events.at(-1);
  return last ? JSON.parse(last.slice(6)) : undefined;
}

let nextId = 1;

/** A host of 2025-11-25: opens a session, asks for a task, reads `tasks/result`. */
export async function client2025(url: string, token: string) {
  const version = '2025-11-25';
  const auth = { authorization: `Bearer ${token}` };
  const clientInfo = { name: 'demo-2025', version: '1.0.0' };
  const opened = await post(url, auth, {
    id: nextId++,
    method: 'initialize',
    params: { protocolVersion: version, capabilities: {}, clientInfo },
  });
  const session = opened.headers.get('mcp-session-id') ?? '';
  const headers = { ...auth, 'mcp-session-id': session, 'mcp-protocol-version': version };
  await post(url, headers, { method: 'notifications/initialized' });
  return {
    request: async (method: string, params: Body) =>
      (await post(url, headers, { id: nextId++, method, params })).result,
  };
}

const PREFIX = 'io.modelcontextprotocol/';

/** A host of 2026-07-28: no session, every request says what it can do. */
export function client2026(url: string, token: string) {
  const version = '2026-07-28';
  const capabilities = { elicitation: { form: {} }, extensions: { [`${PREFIX}tasks`]: {} } };
  const meta = {
    [`${PREFIX}protocolVersion`]: version,
    [`${PREFIX}clientCapabilities`]: capabilities,
    [`${PREFIX}clientInfo`]: { name: 'demo-2026', version: '1.0.0' },
  };
  return {
    async request(method: string, params: Body) {
      const name = (params['taskId'] ?? params['name']) as string | undefined;
      const headers = {
        authorization: `Bearer ${token}`,
        'mcp-protocol-version': version,
        'mcp-method': method,
        ...(name === undefined ? {} : { 'mcp-name': name }),
      };
      return (
        await post(url, headers, { id: nextId++, method, params: { ...params, _meta: meta } })
      ).result;
    },
  };
}

/** Polls `tasks/get` as both generations do, until `done` likes what it sees. */
export async function pollUntil(
  read: () => Promise<Body>,
  done: (task: Body) => boolean,
): Promise<Body> {
  for (let polls = 0; polls < 300; polls += 1) {
    const task = await read();
    if (done(task)) return task;
    await delay(200);
  }
  throw new Error('gave up polling after a minute');
}
