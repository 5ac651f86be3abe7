import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A server of 2025-11-25 in this process that can be made silent on one method. */
export interface HeldServer {
  readonly url: string;
  /** From now on requests of this method get no answer. */
  hold(method: string): void;
  /** Resolves when a request is being held. */
  readonly holding: Promise<void>;
  close(): Promise<void>;
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'held', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'quick', inputSchema: { type: 'object' } }] },
};

/** Starts it on a free port. It keeps no session and offers no stream. */
export async function startHeldServer(): Promise<HeldServer> {
  let held: string | undefined;
  let tell = (): void => undefined;
  const holding = new Promise<void>((resolve) => (tell = resolve));
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (req.method !== 'POST') return void res.writeHead(405).end();
    const { id, method } = JSON.parse(await text(req)) as { id?: unknown; method: string };
    if (method === held) return tell();
    if (id === undefined) return void res.writeHead(202).end();
    const result = RESULTS[method];
    const error = { code: -32_601, message: `unknown method: ${method}` };
    const body = { jsonrpc: '2.0', id, ...(result ? { result } : { error }) };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((req, res) => void answer(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    hold: (method) => void (held = method),
    holding,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
