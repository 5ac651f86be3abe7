import type { ServerResponse } from 'node:http';
import type { Face } from '../face.ts';
import { sendJson } from '../http/answer.ts';
import { shapeOf } from '../http/scope-challenge.ts';
import type { RpcId } from '../message.ts';
import { responseOf, type Reply } from '../reply.ts';
import type { HttpSession } from './http-sessions.ts';
import { createTurns, type Lane } from './lane.ts';
import type { ResumableStream } from './resumable-stream.ts';

/**
 * The response of one POST with requests. One JSON body where the answer is all there is to say (G1-34); an event
 * stream from the moment that something else is said, that a handler asks for it, or that silence gets long (G1-125).
 */
export interface PostExchange {
  readonly lane: Lane;
  readonly gone: AbortSignal;
  openStream(): void;
  /** Nothing as the reply: this request gets no answer. */
  answer(id: RpcId, reply: Reply | undefined): void;
}

export interface PostExchangeOptions {
  readonly face: Face;
  readonly held: HttpSession;
  readonly res: ServerResponse;
  readonly ids: readonly RpcId[];
}

export function createPostExchange({ face, held, res, ids }: PostExchangeOptions): PostExchange {
  const { streams, session } = held;
  const waiting = new Set(ids);
  const gone = new AbortController();
  const turns = createTurns();
  let stream: ResumableStream | undefined;

  const openStream = (): ResumableStream => {
    if (stream) return stream;
    stream = streams.openPost(res);
    stream.onTurn(turns.tell);
    streams.onForgotten(stream, () => gone.abort());
    return stream;
  };
  const quiet = face.clock.after(face.keepAliveMs, openStream);
  res.once('close', () => {
    quiet.cancel();
    if (!stream) gone.abort(); // no event id ever left, so nobody can come back for this answer
  });
  if (ids.length > 1) openStream();

  const answerAsJson = (id: RpcId, reply: Reply): void => {
    const { status, headers } = shapeOf(reply.body, 200);
    const named = { ...headers, 'mcp-session-id': session.id };
    void sendJson(res, responseOf(id, reply.body), { status, headers: named }).then(
      reply.onDelivery,
    );
  };
  const answerOnStream = (id: RpcId, reply: Reply | undefined): void => {
    const open = openStream();
    if (reply) open.answer(responseOf(id, reply.body), reply.onDelivery ?? (() => undefined));
    if (waiting.size === 0) open.finish();
  };
  return {
    gone: gone.signal,
    openStream: () => void openStream(),
    lane: {
      isOpen: () => stream?.isOpen() ?? !res.destroyed,
      send: (message) => openStream().send(message),
      onTurn: turns.onTurn,
    },
    answer(id, reply) {
      if (!waiting.delete(id)) return;
      if (waiting.size === 0) quiet.cancel();
      if (reply && !stream) answerAsJson(id, reply);
      else answerOnStream(id, reply);
    },
  };
}
