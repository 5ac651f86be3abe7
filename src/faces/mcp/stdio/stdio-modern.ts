import type { Principal } from '../../../identity/principal.ts';
import type { Face } from '../face.ts';
import { errorOfThrown, idInUse } from '../failures.ts';
import { readEnvelope } from '../generation-2026/envelope.ts';
import type { ListenSink, Listens } from '../generation-2026/listen.ts';
import type { ModernService } from '../generation-2026/modern-service.ts';
import { finishReply } from '../generation-2026/results.ts';
import { SUBSCRIPTION_META } from '../../../protocol/names.ts';
import { notification, type RpcId, type RpcRequest } from '../message.ts';
import { errorReply, responseOf, type Reply } from '../reply.ts';
import type { Pipe } from './pipe.ts';

/** Requests of 2026-07-28 over a pipe: each stands alone, and is stopped by its id (G2-92). */
export interface StdioModern {
  /** Resolves when it was answered, or needs no answer; a listen resolves when it has begun. */
  serve(message: RpcRequest): Promise<void>;
  /** Whether a request of that id was under way here. */
  cancel(id: RpcId): boolean;
  stopAll(why: 'gone' | 'closing'): void;
}

export interface StdioModernOptions {
  readonly face: Face;
  readonly principal: Principal;
  readonly pipe: Pipe;
  readonly service: ModernService;
  readonly listens: Listens;
}

export function createStdioModern({
  face,
  principal,
  pipe,
  service,
  listens,
}: StdioModernOptions): StdioModern {
  const running = new Map<RpcId, AbortController>();
  const notify = (method: string, params: Parameters<ListenSink['notify']>[1]): void =>
    void pipe.write(notification(method, params));
  const write = (id: RpcId, reply: Reply): void =>
    void pipe.write(responseOf(id, reply.body)).then(reply.onDelivery);
  const refuse = (id: RpcId, error: unknown): void => {
    const { body } = errorReply(errorOfThrown(face, error));
    write(id, { body: finishReply(face, '', body) });
  };
  /** T35, G2-102: over stdio the end of a listen is a cancel of it, marked as its own, then its result. */
  const sinkFor = (id: RpcId): ListenSink => ({
    notify,
    finish(result) {
      running.delete(id);
      notify('notifications/cancelled', {
        requestId: id,
        reason: 'the subscription has ended',
        _meta: { [SUBSCRIPTION_META]: id },
      });
      write(id, { body: { kind: 'result', result } });
    },
  });
  const serve = async (message: RpcRequest, stop: AbortController): Promise<void> => {
    const { id } = message;
    const envelope = readEnvelope(message.params);
    const request = { ...message, principal, envelope, signal: stop.signal, notify };
    if (message.method === 'subscriptions/listen') {
      running.set(id, stop); // until it ends, which is not now
      return (await listens.accept(request)).run(sinkFor(id));
    }
    const reply = await service.dispatch(request);
    if (running.get(id) === stop) running.delete(id);
    if (reply && !stop.signal.aborted) write(id, reply);
    else reply?.onDelivery?.('gone');
  };
  return {
    async serve(message) {
      if (running.has(message.id)) return refuse(message.id, idInUse());
      const stop = new AbortController();
      running.set(message.id, stop);
      await serve(message, stop).catch((error: unknown) => {
        running.delete(message.id);
        refuse(message.id, error);
      });
    },
    cancel(id) {
      const stop = running.get(id);
      stop?.abort('cancelled');
      return running.delete(id);
    },
    stopAll(why) {
      for (const stop of running.values()) stop.abort(why);
      running.clear();
    },
  };
}
