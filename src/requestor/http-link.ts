import type { IncomingMessage } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Random } from '../kernel/random.ts';
import { createSockets, exchange } from './http-exchange.ts';
import { lowerCased, mirroredHeaders } from './http-headers.ts';
import type { SendOptions } from './wire.ts';

export interface HttpLinkOptions {
  readonly url: string;
  /** Sent with every request: credentials, routing. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  /** Longest message in bytes. */
  readonly maxMessageBytes: number;
}

/** Requests to one MCP endpoint with what they all carry: headers, session, protocol version. */
export interface HttpLink {
  post(message: JsonObject, sending: SendOptions, signal: AbortSignal): Promise<IncomingMessage>;
  /** Opens a stream, or takes one up again after that event. */
  get(signal: AbortSignal, lastEventId?: string): Promise<IncomingMessage>;
  /** Ends the session. */
  delete(signal: AbortSignal): Promise<IncomingMessage>;
  sessionId(): string | undefined;
  setSessionId(sessionId: string | undefined): void;
  setProtocolVersion(version: string): void;
  /** Closes every socket. */
  destroy(): void;
}

export function createHttpLink({ url: address, headers, clock }: HttpLinkOptions): HttpLink {
  const url = new URL(address);
  const sockets = createSockets(url);
  let sessionId: string | undefined;
  let version: string | undefined;
  const headersWith = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    ...lowerCased(headers ?? {}),
    ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
    ...lowerCased(more),
  });
  return {
    post: (message, sending, signal) =>
      exchange({
        url,
        method: 'POST',
        headers: headersWith({
          ...sending.headers,
          ...mirroredHeaders(message),
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        }),
        body: JSON.stringify(message),
        agent: sending.freshSocket === true ? sockets.fresh : sockets.shared,
        clock,
        signal,
      }),
    get(signal, lastEventId) {
      const resume: Record<string, string> =
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      const given = headersWith({ accept: 'text/event-stream', ...resume });
      return exchange({ url, method: 'GET', headers: given, agent: sockets.shared, clock, signal });
    },
    delete: (signal) =>
      exchange({
        url,
        method: 'DELETE',
        headers: headersWith({}),
        agent: sockets.shared,
        clock,
        signal,
      }),
    sessionId: () => sessionId,
    setSessionId: (next) => void (sessionId = next),
    setProtocolVersion: (next) => void (version = next),
    destroy() {
      sockets.shared.destroy();
      sockets.fresh.destroy();
    },
  };
}
