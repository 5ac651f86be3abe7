import type { Principal } from '../../../identity/principal.ts';
import { newId } from '../../../kernel/ids.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import { RpcFailure } from '../../../runtime/surface.ts';
import type { Face } from '../face.ts';
import { errorOfThrown } from '../failures.ts';
import { initializeResult, readInitialize } from '../generation-2025/initialize.ts';
import { createSession, type Session } from '../generation-2025/session.ts';
import type { SessionService } from '../generation-2025/session-service.ts';
import { takesBatches } from '../generation-2025/versions.ts';
import type { RpcNotification, RpcRequest, RpcResponse } from '../message.ts';
import { errorReply, responseOf, resultReply, type Reply } from '../reply.ts';
import type { Pipe } from './pipe.ts';

/** The one session of a pipe, from `initialize` on. */
export interface StdioSession {
  /** Resolves when it was answered. */
  serve(message: RpcRequest): Promise<void>;
  notified(message: RpcNotification): void;
  responded(message: RpcResponse): void;
  takesBatches(): boolean;
  end(): void;
}

export interface StdioSessionOptions {
  readonly face: Face;
  readonly principal: Principal;
  readonly pipe: Pipe;
  readonly service: SessionService;
}

const notInitialized = (): RpcFailure =>
  new RpcFailure(
    RPC_CODES.invalidRequest,
    'send initialize first, or the _meta of 2026-07-28 with every request',
  );

export function createStdioSession({
  face,
  principal,
  pipe,
  service,
}: StdioSessionOptions): StdioSession {
  const gone = new AbortController();
  let session: Session | undefined;
  const end = (): void => {
    gone.abort();
    if (session) service.end(session);
    session = undefined;
  };
  const initialize = ({ params }: RpcRequest): Reply => {
    const { version, capabilities } = readInitialize(params);
    if (session) service.end(session);
    const id = newId('session', face.random);
    session = createSession({ id, version, capabilities, principal, standalone: pipe });
    service.add(session);
    return resultReply(initializeResult(face, version, principal));
  };
  const answer = async (message: RpcRequest): Promise<Reply | undefined> => {
    if (message.method === 'initialize') return initialize(message);
    if (!session && message.method === 'ping') return resultReply({});
    if (!session) throw notInitialized();
    const exchange = { lane: pipe, gone: gone.signal, openStream: () => undefined };
    return service.dispatch({ ...message, ...exchange, session, principal });
  };
  return {
    async serve(message) {
      const reply = await answer(message).catch((error: unknown) =>
        errorReply(errorOfThrown(face, error)),
      );
      if (reply) void pipe.write(responseOf(message.id, reply.body)).then(reply.onDelivery);
    },
    notified: (message) => session && service.notified(session, message),
    // A pipe has no place for a word about an answer; a late one was told by the cancel of its question.
    responded: (message) => void session?.takeResponse(message).catch(() => undefined),
    takesBatches: () => session !== undefined && takesBatches(session.version),
    end,
  };
}
