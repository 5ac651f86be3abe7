import { RPC_CODES } from '../../src/protocol/names.ts';

/** What came back for one request. */
export interface Reply {
  readonly status: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client of 2025-11-25 in plain HTTP: what goes over the wire is what the test says. */
export interface McpSession {
  readonly status: number;
  call(method: string, params?: object): Promise<Reply>;
  /** Starts a task and answers its id; throws what came instead. */
  startTask(tool: string, args: object): Promise<string>;
}

/** Opens a session; `status` tells whether the door opened at all. */
export async function openSession(url: string, token?: string): Promise<McpSession> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  let id = 0;
  const post = (message: object): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const opened = await post({ id, method: 'initialize', params });
  await opened.text();
  headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? '';
  headers['mcp-protocol-version'] = '2025-11-25';
  if (opened.ok) await (await post({ method: 'notifications/initialized' })).text();
  const call = async (method: string, callParams: object = {}): Promise<Reply> => {
    id += 1;
    const response = await post({ id, method, params: callParams });
    return { status: response.status, ...messageIn(await response.text(), id) };
  };
  return {
    status: opened.status,
    call,
    async startTask(tool, args) {
      const reply = await call('tools/call', { name: tool, arguments: args, task: {} });
      const taskId = /"taskId":"(tsk_[^"]+)"/.exec(JSON.stringify(reply))?.[1];
      if (taskId === undefined) throw new Error(`no task: ${JSON.stringify(reply)}`);
      return taskId;
    },
  };
}

/** The response to that request in a body, which is one JSON text or a stream of events. */
function messageIn(body: string, id: number): Omit<Reply, 'status'> {
  const texts = body.startsWith('{')
    ? [body]
    : [...body.matchAll(/^data: ?(\{.*)$/gm)].map(([, text]) => text ?? '');
  const messages = texts.map((text) => JSON.parse(text) as Reply & { readonly id?: number });
  return (
    messages.find((message) => message.id === id) ?? {
      error: { code: RPC_CODES.internalError, message: `no response in ${body}` },
    }
  );
}
