import { exchange, type Shot } from './load.ts';
import { Agent } from 'node:http';

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const VERSION = '2025-11-25';

/** A way to say one JSON-RPC request to one server. */
export interface Target {
  readonly name: string;
  shot(method: string, params: Record<string, unknown>, n: number): Shot;
}

/** A session of 2025-11-25, opened the ordinary way. */
export async function target2025(name: string, url: string, token?: string): Promise<Target> {
  const auth = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo };
  const opened = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...auth },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  await opened.text();
  const session = opened.headers.get('mcp-session-id') ?? '';
  const headers = {
    ...JSON_HEADERS,
    ...auth,
    'mcp-session-id': session,
    'mcp-protocol-version': VERSION,
  };
  await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  });
  return {
    name,
    shot: (method, given, n) => ({
      url,
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: n + 1, method, params: given }),
    }),
  };
}

const PREFIX = 'io.modelcontextprotocol/';

/** Requests of 2026-07-28: stateless, with the extension declared in each. */
export function target2026(name: string, url: string, token?: string): Target {
  const auth = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const version = '2026-07-28';
  const meta = {
    [`${PREFIX}protocolVersion`]: version,
    [`${PREFIX}clientCapabilities`]: { extensions: { [`${PREFIX}tasks`]: {} } },
    [`${PREFIX}clientInfo`]: { name: 'bench', version: '1.0.0' },
  };
  return {
    name,
    shot: (method, params, n) => ({
      url,
      headers: {
        ...JSON_HEADERS,
        ...auth,
        'mcp-protocol-version': version,
        'mcp-method': method,
        'mcp-name': String(params['taskId'] ?? params['name'] ?? ''),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: n + 1,
        method,
        params: { ...params, _meta: meta },
      }),
    }),
  };
}

const agent = new Agent({ keepAlive: true });

/** One request outside the measurement; its result. */
export async function once(
  target: Target,
  method: string,
  params: Record<string, unknown>,
): Promise<unknown> {
  const answer = await exchange(agent, target.shot(method, params, 0));
  return (JSON.parse(answer) as { result: unknown }).result;
}
