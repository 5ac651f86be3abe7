import type { JsonObject } from '../kernel/json.ts';
import type { RpcId } from './rpc-message.ts';

/**
 * Why a message got no answer. `unsent` is the only one that proves that the peer has seen nothing of it; `lost` is
 * a connection that broke; `session_gone` and `http` are a peer that answered below JSON-RPC.
 */
export type SendFailure =
  | { readonly kind: 'unsent'; readonly problem: string }
  | { readonly kind: 'lost'; readonly problem: string }
  | { readonly kind: 'session_gone'; readonly problem: string }
  | {
      readonly kind: 'http';
      readonly status: number;
      readonly problem: string;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'too_large'; readonly problem: string };

/** Where a message came from. */
export interface MessageSource {
  /** Size of the JSON text. */
  readonly bytes: number;
  /** The request on whose stream it came; HTTP only. */
  readonly via?: RpcId;
}

/** Who hears a wire: first the handshake, then the connection. */
export interface WireListener {
  /** Any JSON value that the peer wrote. */
  message(value: unknown, source: MessageSource): void;
  /** The request with that id will get no answer. */
  failed(id: RpcId, failure: SendFailure): void;
  /** Nothing new gets through. What is under way ends on its own over HTTP, and is lost over stdio. */
  closed(problem: string): void;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** On a socket of its own: an idle one may be closing, which would leave the fate of the message open. */
  readonly freshSocket?: boolean;
}

/** How a peer is reached. */
export const WIRE_KINDS = ['stdio', 'http', 'in-process'] as const;
export type WireKind = (typeof WIRE_KINDS)[number];

/** Bytes to and from one peer. Knows framing, not meaning. */
export interface Wire {
  readonly kind: WireKind;
  /** The child's process id; stdio only, once started. */
  pid(): number | undefined;
  /** Whether the peer may keep state for this connection: a process, or an HTTP session. */
  keepsState(): boolean;
  /** Whether the peer's death shows without asking it: a process, or an open stream. */
  isWatched(): boolean;
  listen(listener: WireListener): void;
  /** Rejects where there is nothing to talk to. */
  start(): Promise<void>;
  setProtocolVersion(version: string): void;
  /** Resolves when the message was handed over; on HTTP, for a request, when its exchange is over. */
  send(message: JsonObject, options?: SendOptions): Promise<SendFailure | undefined>;
  /** Closes the stream of a request; over stdio there is none. */
  drop(id: RpcId): void;
  close(graceMs: number): Promise<void>;
}

/** A listener for the time when nobody cares. */
export const DEAF: WireListener = {
  message: () => undefined,
  failed: () => undefined,
  closed: () => undefined,
};
