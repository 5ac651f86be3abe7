import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/logger.ts';
import type { SendFailure } from './wire.ts';

const CONNECT_MS_MAX = 10_000;
/** How often the system asks a silent peer whether it is still there. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** An HTTP exchange that ended below HTTP. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  readonly failure: Extract<SendFailure, { readonly kind: 'unsent' | 'lost' }>;

  constructor(failure: ExchangeError['failure'], cause?: unknown) {
    super(failure.problem, { cause });
    this.failure = failure;
  }
}

/** Sockets towards one peer. */
export interface Sockets {
  readonly shared: HttpAgent;
  readonly fresh: HttpAgent;
}

export function createSockets(url: URL): Sockets {
  const Agent = url.protocol === 'https:' ? HttpsAgent : HttpAgent;
  return { shared: new Agent({ keepAlive: true }), fresh: new Agent({ keepAlive: false }) };
}

export interface ExchangeOptions {
  readonly url: URL;
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent: HttpAgent;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * One HTTP request, up to the headers of its answer. Node's own client on purpose: fetch gives up after five silent
 * minutes, which is when long calls become interesting. Redirects are not followed. Rejects with ExchangeError.
 */
export function exchange(options: ExchangeOptions): Promise<IncomingMessage> {
  const send = options.url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { url, method, headers, agent, clock, signal } = options;
  return new Promise((resolve, reject) => {
    const request = open(send, { url, method, headers, agent });
    if (request instanceof ExchangeError) return reject(request);
    const isConnected = watchConnecting(request, clock);
    request.once('response', (response) => {
      stopOnAbort(response, signal);
      resolve(response);
    });
    request.on('error', (error) => {
      const kind = isConnected() ? 'lost' : 'unsent';
      reject(new ExchangeError({ kind, problem: problemOf(error) }, error));
    });
    stopOnAbort(request, signal);
    request.end(options.body);
  });
}

/** Headers that no request may carry are found out here: a configured value, or a session id that the peer made up. */
function open(
  send: typeof httpRequest,
  { url, ...options }: Pick<ExchangeOptions, 'url' | 'method' | 'headers' | 'agent'>,
): ClientRequest | ExchangeError {
  try {
    return send(url, options);
  } catch (error) {
    return new ExchangeError({ kind: 'unsent', problem: messageOf(error) }, error);
  }
}

/** Node's own `signal` option raises errors on sockets that are back with their agent, where nobody catches them. */
function stopOnAbort(stream: ClientRequest | IncomingMessage, signal: AbortSignal): void {
  const stop = (): void => void stream.destroy();
  stream.once('close', () => signal.removeEventListener('abort', stop));
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
}

/** Tells whether a connection ever stood: before that, nothing of the request can have arrived. */
function watchConnecting(request: ClientRequest, clock: Clock): () => boolean {
  let connected = false;
  const timer = clock.after(CONNECT_MS_MAX, () =>
    request.destroy(new Error('no connection within 10 s')),
  );
  const onConnect = (): void => {
    connected = true;
    timer.cancel();
  };
  request.once('socket', (socket: Socket) => {
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    if (socket.connecting) socket.once('connect', onConnect);
    else onConnect();
  });
  request.once('close', () => timer.cancel());
  return () => connected;
}

/** The system's word for it; several addresses that all refused come as one error without a message. */
function problemOf(error: Error): string {
  if (error.message !== '') return error.message;
  const { errors } = error as Error & { readonly errors?: readonly unknown[] };
  return errors?.map(messageOf).join('; ') ?? 'the connection failed';
}

/** Reads a body whole, or nothing where it is longer than `maxBytes`. */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) return undefined;
      parts.push(part);
    }
  } catch (error) {
    throw new ExchangeError({ kind: 'lost', problem: messageOf(error) }, error);
  }
  return Buffer.concat(parts);
}
