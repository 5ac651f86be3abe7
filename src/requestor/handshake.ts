import {
  Client,
  SdkErrorCode,
  SdkHttpError,
  type DiscoverResult,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { LongcallError } from '../kernel/errors.ts';
import { objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { ASK_KINDS } from '../protocol/model.ts';
import { capabilitiesFor, SERVER_INFO_META, type ClientInfo } from './envelope.ts';
import { readMessage, type RpcId } from './rpc-message.ts';
import type { SendFailure, Wire } from './wire.ts';

/** Which handshake a peer takes: remembered, so that the next connection need not ask (G2-182). */
export type Verdict =
  { readonly kind: 'legacy' } | { readonly kind: 'modern'; readonly discover: JsonObject };

/** What a peer says of itself when a connection begins, unknown members kept. */
export interface PeerHello {
  readonly protocolVersion: string;
  readonly serverInfo: JsonObject;
  readonly instructions?: string;
  readonly capabilities: JsonObject;
  readonly verdict: Verdict;
}

export interface HandshakeOptions {
  readonly clientInfo: ClientInfo;
  /** Absent: ask with `server/discover`, and `initialize` where that leads nowhere (G2-180, G2-181). */
  readonly verdict?: Verdict;
  /** For each request of the handshake. */
  readonly timeoutMs: number;
  /** How long the peer may be silent on `server/discover` before it is taken for an older one. */
  readonly probeMs: number;
}

/** What `initialize` declares: every question that some caller may be asked. Who may be asked is decided per call. */
const DECLARED = capabilitiesFor(ASK_KINDS, { tasks: false });

/** How long a peer that we could not agree with has to end. */
const CLOSE_GRACE_MS = 2_000;

/** Results are not validated on our way, so nothing needs to be compiled for it. */
const noValidation = {
  getValidator: () => (input: unknown) =>
    ({ valid: true, data: input as never, errorMessage: undefined }) as const,
};

/**
 * Starts the wire and agrees on a protocol version. The SDK's client does it and is done then: afterwards the wire
 * carries our own messages. Rejects with LONGCALL_UPSTREAM_UNREACHABLE; `diedProbing` tells whether the peer ended
 * because it was asked something before `initialize`.
 */
export async function shakeHands(wire: Wire, options: HandshakeOptions): Promise<PeerHello> {
  const tap = createTap(wire);
  const client = new Client(options.clientInfo, {
    capabilities: DECLARED,
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: options.probeMs } },
    jsonSchemaValidator: noValidation,
  });
  try {
    await client.connect(tap.transport, {
      timeout: options.timeoutMs,
      ...priorOf(options.verdict),
    });
  } catch (error) {
    const closed = tap.closedBecause();
    const diedProbing = closed !== undefined && tap.asked() === 'server/discover';
    throw new HandshakeError(closed ?? messageOf(error), diedProbing, error);
  }
  const discover = client.getDiscoverResult();
  const said = tap.answer() ?? (discover as JsonObject | undefined) ?? {};
  const instructions = stringAt(said, 'instructions');
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    serverInfo:
      objectAt(said, 'serverInfo') ?? objectAt(objectAt(said, '_meta'), SERVER_INFO_META) ?? {},
    ...(instructions === undefined ? {} : { instructions }),
    capabilities: objectAt(said, 'capabilities') ?? {},
    verdict:
      discover === undefined
        ? { kind: 'legacy' }
        : { kind: 'modern', discover: discover as JsonObject },
  };
}

/** A handshake that came to nothing. */
export class HandshakeError extends LongcallError {
  /** Whether the peer had been asked nothing but `server/discover` when it ended. */
  readonly diedProbing: boolean;

  constructor(problem: string, diedProbing: boolean, cause: unknown) {
    super('LONGCALL_UPSTREAM_UNREACHABLE', problem, { cause });
    this.diedProbing = diedProbing;
  }
}

function priorOf(verdict: Verdict | undefined) {
  if (verdict === undefined) return {};
  if (verdict.kind === 'legacy') return { prior: { kind: 'legacy' } } as const;
  return { prior: { kind: 'modern', discover: verdict.discover as DiscoverResult } } as const;
}

/** The wire as the SDK wants to see it, with an ear of ours: the SDK's parsing drops what it does not know. */
interface Tap {
  readonly transport: Transport;
  /** The raw answer to `initialize` or `server/discover`. */
  answer(): JsonObject | undefined;
  /** The last request of the handshake. */
  asked(): string | undefined;
  closedBecause(): string | undefined;
}

function createTap(wire: Wire): Tap {
  let asked: { readonly id: RpcId; readonly method: string } | undefined;
  let answer: JsonObject | undefined;
  let closed: string | undefined;
  let closing = false;
  const transport: Transport = {
    start() {
      wire.listen({
        message(value) {
          const message = readMessage(value);
          if (message.kind === 'result' && message.id === asked?.id) answer = message.result;
          if (message.kind !== 'invalid') transport.onmessage?.(value as JSONRPCMessage);
        },
        failed: (_id, failure) => transport.onerror?.(errorOf(failure)),
        closed(problem) {
          if (!closing) closed = problem;
          transport.onclose?.();
        },
      });
      return wire.start();
    },
    async send(message) {
      if ('method' in message && 'id' in message)
        asked = { id: message.id, method: message.method };
      const failure = await wire.send(message as JsonObject);
      if (failure !== undefined) throw errorOf(failure);
    },
    close() {
      closing = true;
      return wire.close(CLOSE_GRACE_MS);
    },
    setProtocolVersion: (version) => wire.setProtocolVersion(version),
  };
  // The SDK tells the two kinds of transport apart by these members; silence means different things on them.
  const marked =
    wire.kind !== 'http' ? Object.assign(transport, { pid: null, stderr: null }) : transport;
  return {
    transport: marked,
    answer: () => answer,
    asked: () => asked?.method,
    closedBecause: () => closed,
  };
}

/** The SDK reads the era from the kind of error, so that it must get its own. */
function errorOf(failure: SendFailure): Error {
  if (failure.kind !== 'http') return new Error(failure.problem);
  const data = { status: failure.status, statusText: '', text: failure.problem };
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, failure.problem, data);
}
