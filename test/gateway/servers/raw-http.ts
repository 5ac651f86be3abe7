import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';

/** One HTTP request of a client, its body read. */
export interface RawExchange {
  readonly httpMethod: string;
  readonly headers: IncomingMessage['headers'];
  readonly message: JsonObject;
  readonly response: ServerResponse;
  /** Answers with JSON. */
  json(body: unknown, status?: number): void;
  result(result: JsonObject): void;
  /** Begins an event stream. */
  stream(): void;
  event(data: unknown, id?: string): void;
}

/** Returns true where it has dealt with the exchange. */
export type RawHandler = (exchange: RawExchange) => boolean;

export interface RawHttpServer {
  readonly url: string;
  readonly seen: readonly Pick<RawExchange, 'httpMethod' | 'headers' | 'message'>[];
  session: string;
}

const INITIALIZED = { serverInfo: { name: 'raw', version: '1.0.0' }, capabilities: { tools: {} } };
const TOOLS = ['call', 'other'].map((name) => ({ name, inputSchema: { type: 'object' } }));

/** A server of 2025-11-25 with sessions and without any SDK; `handle` comes first, before what it does by itself. */
export async function serveRawHttp(handle: RawHandler): Promise<RawHttpServer> {
  const seen: RawExchange[] = [];
  const state: RawHttpServer = { url: '', seen, session: 'session-1' };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      const exchange = exchangeOf(
        request,
        response,
        body === '' ? {} : (JSON.parse(body) as JsonObject),
      );
      seen.push(exchange);
      if (!handle(exchange)) serve(state, exchange);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => closeServer(server));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
  });
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => void server.close(() => resolve()));
}

function exchangeOf(
  request: IncomingMessage,
  response: ServerResponse,
  message: JsonObject,
): RawExchange {
  const json = (body: unknown, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  return {
    httpMethod: request.method ?? '',
    headers: request.headers,
    message,
    response,
    json,
    result: (result) => json({ jsonrpc: '2.0', id: message['id'], result }),
    stream: () => void response.writeHead(200, { 'content-type': 'text/event-stream' }),
    event: (data, id) =>
      void response.write(
        `${id === undefined ? '' : `id: ${id}\n`}data: ${data === '' ? '' : JSON.stringify(data)}\n\n`,
      ),
  };
}

function serve({ session }: RawHttpServer, exchange: RawExchange): void {
  const { httpMethod, headers, message, response } = exchange;
  if (httpMethod !== 'POST') return void response.writeHead(405).end();
  const { method } = message;
  if (method === 'initialize') {
    response.setHeader('mcp-session-id', session);
    return exchange.result({ protocolVersion: '2025-11-25', ...INITIALIZED });
  }
  if (method === 'server/discover')
    return exchange.json({
      jsonrpc: '2.0',
      id: message['id'],
      error: { code: -32_601, message: 'no' },
    });
  if (headers['mcp-session-id'] !== session)
    return exchange.json(
      { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } },
      404,
    );
  if (message['id'] === undefined) return void response.writeHead(202).end();
  if (method === 'tools/list') return exchange.result({ tools: TOOLS });
  if (method === 'ping') return exchange.result({});
  return exchange.result({ content: [{ type: 'text', text: 'served' }] });
}
