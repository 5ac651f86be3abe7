import { createDeferred } from '../kernel/deferred.ts';
import type { JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { isRpcId, type RpcId } from './rpc-message.ts';
import { DEAF, type SendFailure, type Wire, type WireListener } from './wire.ts';

/**
 * One end of a pair in this process, in the shape that the MCP SDKs (1.x, 2.x) and what is built on them expect of a
 * transport. Nothing of theirs is needed to make one.
 */
export interface InProcessTransport {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  start(): Promise<void>;
  /** `relatedRequestId`: the request on whose behalf this is said. */
  send(message: unknown, options?: { readonly relatedRequestId?: unknown }): Promise<void>;
  close(): Promise<void>;
}

/** A server in this process. */
export interface InProcessServer {
  /**
   * Serves that transport. Need not resolve before the handshake; rejects where it will not serve it. The answer is
   * called when the connection has ended, for what a closed transport alone does not end.
   */
  connect(transport: InProcessTransport): Promise<(() => void) | undefined>;
  /** What is handed to the server beside each message: who asks. */
  extra?(): object | undefined;
}

export interface InProcessWireOptions extends InProcessServer {
  /** Longest message of the server in bytes. */
  readonly maxMessageBytes: number;
}

const CLOSED = 'it was closed';
const SERVER_CLOSED = 'the server has closed its connection';

/**
 * A wire to a server in this process. Messages cross as JSON, as over any wire: neither side can reach into the other's
 * objects, and what is no JSON is found out here. They are delivered at once, in the async context of their sender.
 */
export function createInProcessWire(options: InProcessWireOptions): Wire {
  let listener: WireListener = DEAF;
  let started = false;
  let ended: string | undefined;

  let release: (() => void) | undefined;
  const end = (problem: string): void => {
    if (ended !== undefined) return;
    ended = problem;
    transport.onclose?.();
    release?.();
    listener.closed(problem);
  };
  const open = createDeferred<void>();
  const transport: InProcessTransport = {
    start() {
      started = true;
      open.resolve();
      return Promise.resolve();
    },
    send(message, sendOptions) {
      if (ended !== undefined) return Promise.reject(new Error(ended));
      return deliver(message, { listener, via: sendOptions?.relatedRequestId, ...options });
    },
    close() {
      end(SERVER_CLOSED);
      return Promise.resolve();
    },
  };
  return {
    kind: 'in-process',
    pid: () => undefined,
    keepsState: () => true,
    isWatched: () => true,
    listen: (next) => void (listener = next),
    async start() {
      options.connect(transport).then(
        (given) => (ended === undefined ? void (release = given) : given?.()),
        (error: unknown) => (started ? end(messageOf(error)) : open.reject(error)),
      );
      await open.promise;
    },
    setProtocolVersion: () => undefined,
    send: (message) => Promise.resolve(hand(message, { transport, ended, extra: options.extra })),
    drop: () => undefined,
    close() {
      end(CLOSED);
      return Promise.resolve();
    },
  };
}

interface Hand {
  readonly transport: InProcessTransport;
  readonly ended: string | undefined;
  readonly extra: InProcessServer['extra'];
}

/** To the server. */
function hand(message: JsonObject, { transport, ended, extra }: Hand): SendFailure | undefined {
  if (ended !== undefined) return { kind: 'unsent', problem: ended };
  const { onmessage } = transport;
  if (!onmessage) return { kind: 'unsent', problem: 'it does not listen' };
  onmessage.call(transport, structuredClone(message) as never, extra?.() as never);
  return undefined;
}

interface Delivery {
  readonly listener: WireListener;
  readonly via: unknown;
  readonly maxMessageBytes: number;
}

/** From the server. An answer that cannot be carried ends its request; without that nobody would ever hear of it. */
function deliver(message: unknown, { listener, via, maxMessageBytes }: Delivery): Promise<void> {
  const id = answeredBy(message);
  const refuse = (failure: SendFailure): Promise<void> => {
    if (id !== undefined) listener.failed(id, failure);
    return Promise.reject(new Error(failure.kind));
  };
  const written = write(message);
  if (written.kind === 'unwritable')
    return refuse({ kind: 'invalid', problem: `its answer is no JSON: ${written.problem}` });
  const bytes = Buffer.byteLength(written.text);
  if (bytes > maxMessageBytes)
    return refuse({ kind: 'too_large', problem: `its answer has ${bytes} bytes` });
  const value: unknown = JSON.parse(written.text);
  listener.message(value, { bytes, ...(isRpcId(via) ? { via } : {}) });
  return Promise.resolve();
}

type Written =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unwritable'; readonly problem: string };

function write(message: unknown): Written {
  try {
    return { kind: 'text', text: JSON.stringify(message) ?? 'null' };
  } catch (error) {
    return { kind: 'unwritable', problem: messageOf(error) };
  }
}

/** The request of ours that a message answers. */
function answeredBy(message: unknown): RpcId | undefined {
  const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  return method === undefined && isRpcId(id) ? id : undefined;
}
