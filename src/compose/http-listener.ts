import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { formatAddress } from '../gateway/config/address.ts';
import type { ListenAddress } from '../gateway/config/config.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';

/** What one peer can take up before it is known to be worth it. Answers may take as long as they like. */
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  /** All headers must be here by then (slow headers). */
  headersTimeout: 10_000,
  /** The whole request must be here by then (slow bodies); the answer is not counted. */
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  /** How long an idle connection is kept for its next request. */
  keepAliveTimeout: 30_000,
} as const;
const HEADERS_MAX = 100;

export interface ListenOptions {
  readonly address: ListenAddress;
  /** Names the address in an error: `listen.mcp`. */
  readonly key: string;
  readonly connectionsMax: number;
  readonly clock: Clock;
  readonly logger: Logger;
  handler(request: IncomingMessage, response: ServerResponse): void;
}

export interface HttpListener {
  /** With the port that was really taken. */
  readonly address: ListenAddress;
  /** `http://127.0.0.1:8787`, without a path. */
  readonly origin: string;
  /** Takes no new connections and ends those that wait for nothing; answers under way go on. */
  stopAccepting(): void;
  /** Stops accepting; open answers have `graceMs` to end, then they are cut. */
  close(graceMs: number): Promise<void>;
}

/** Listens, or rejects with LONGCALL_LISTEN_FAILED and what to do about it. */
export async function listen(options: ListenOptions): Promise<HttpListener> {
  const { address, key, connectionsMax, clock, logger, handler } = options;
  const server = createServer(LIMITS, handler);
  const ending = createEnding(server, clock);
  server.maxConnections = connectionsMax;
  server.maxHeadersCount = HEADERS_MAX;
  await bind(server, address, key);
  server.on('error', (error) => logger.error('listener.error', { key, problem: messageOf(error) }));
  const { port } = server.address() as AddressInfo;
  const taken = { host: address.host, port };
  return {
    address: taken,
    origin: `http://${formatAddress(taken)}`,
    ...ending,
  };
}

function bind(server: Server, address: ListenAddress, key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(listenFailed(address, key, error)),
    );
    server.listen(address.port, address.host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'the name leads nowhere',
};

function listenFailed(
  address: ListenAddress,
  key: string,
  cause: NodeJS.ErrnoException,
): LongcallError {
  const reason = REASONS[cause.code ?? ''] ?? cause.message;
  const flag = key === 'listen.admin' ? '--admin' : '--listen';
  return new LongcallError(
    'LONGCALL_LISTEN_FAILED',
    `cannot listen on ${formatAddress(address)} (${key}): ${reason}`,
    {
      cause,
      hint: `name another address with ${flag}; port 0 takes any free one`,
    },
  );
}

/**
 * Knows which connections have an answer owed. The platform ends idle ones at close, but not those that have never
 * asked anything, nor those whose last answer ends afterwards. The answer to call ends what is unused, now and later.
 */
function trackSockets(server: Server): () => void {
  const owed = new Map<Socket, number>();
  let closing = false;
  server.on('connection', (socket: Socket) => {
    owed.set(socket, 0);
    socket.once('close', () => owed.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    owed.set(socket, (owed.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (owed.get(socket) ?? 1) - 1;
      if (owed.has(socket)) owed.set(socket, left);
      if (closing && left === 0) socket.destroySoon();
    });
  });
  return () => {
    closing = true;
    for (const [socket, answers] of owed) if (answers === 0) socket.destroySoon();
  };
}

function createEnding(server: Server, clock: Clock): Pick<HttpListener, 'stopAccepting' | 'close'> {
  const endUnused = trackSockets(server);
  let closed: Promise<void> | undefined;
  const stopAccepting = (): Promise<void> => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    endUnused();
    return closed;
  };
  return {
    stopAccepting: () => void stopAccepting(),
    async close(graceMs) {
      const waited = new AbortController();
      const grace = sleep(clock, graceMs, waited.signal).then((how) => {
        if (how === 'elapsed') server.closeAllConnections();
      });
      await stopAccepting();
      waited.abort();
      await grace;
    },
  };
}
