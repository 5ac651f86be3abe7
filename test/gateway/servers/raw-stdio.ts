import { createInterface } from 'node:readline';

export type Message = Readonly<Record<string, unknown>>;

export interface RawRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Message;
  /** Writes any line. */
  write(message: unknown): void;
  result(result: unknown): void;
  error(error: unknown): void;
}

export interface RawServer {
  readonly protocolVersion: string;
  /** Names, or whole definitions. */
  readonly tools: readonly (string | Message)[];
  readonly capabilities?: Message;
  /** Everything but the handshake, `ping` and `tools/list`. */
  handle(request: RawRequest): void;
  /** Before `initialize`; the default answers -32601. */
  early?(request: RawRequest): void;
  /** Answers to requests of ours. */
  answered?(message: Message): void;
}

const write = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

/** A server without any SDK: it can say what an SDK would not let it say. */
export function serveRaw(server: RawServer): void {
  let initialized = false;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    const { id, method } = message;
    if (typeof method !== 'string') return server.answered?.(message);
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const request: RawRequest = {
      id,
      method,
      params: (message['params'] ?? {}) as Message,
      write,
      result: (result) => write({ jsonrpc: '2.0', id, result }),
      error: (error) => write({ jsonrpc: '2.0', id, error }),
    };
    if (method === 'initialize') {
      initialized = true;
      return request.result({
        protocolVersion: server.protocolVersion,
        serverInfo: { name: 'raw', version: '1.0.0' },
        capabilities: { tools: {}, ...server.capabilities },
      });
    }
    if (method === 'server/discover' && server.protocolVersion === '2026-07-28')
      return request.result({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, ...server.capabilities },
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'raw', version: '1.0.0' } },
      });
    if (!initialized && server.early) return server.early(request);
    if (method === 'ping') return request.result({});
    if (method === 'tools/list')
      return request.result({
        tools: server.tools.map((tool) =>
          typeof tool === 'string' ? { name: tool, inputSchema: { type: 'object' } } : tool,
        ),
      });
    if (method === 'server/discover')
      return request.error({ code: -32_601, message: 'Method not found' });
    return server.handle(request);
  });
}
