import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../../identity/principal.ts';
import { isJsonObject } from '../../../kernel/json.ts';
import type { RpcFailure } from '../../../runtime/surface.ts';
import type { Face } from '../face.ts';
import { errorOfThrown } from '../failures.ts';
import { sendJson, unanswerable } from '../http/answer.ts';
import { shapeOf, type HttpShape } from '../http/scope-challenge.ts';
import { openSse, sseText, type SseSocket } from '../http/sse.ts';
import { notification, type RpcId, type RpcRequest } from '../message.ts';
import { responseOf, type Delivery, type Reply } from '../reply.ts';
import { readEnvelope, type Envelope } from './envelope.ts';
import { headerProblem } from './headers.ts';
import type { AcceptedListen, Listens } from './listen.ts';
import type { ModernService } from './modern-service.ts';
import { paramHeaderProblem } from './param-headers.ts';
import type { ModernRequest } from './request.ts';
import { finishReply, statusOfError } from './results.ts';

/** Streamable HTTP of 2026-07-28: one POST, one request, one response; nothing is remembered. */
export interface Http2026 {
  post(visit: ModernVisit, request: RpcRequest): void;
}

export interface ModernVisit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly principal: Principal;
}

/** The response of one request: a JSON body, or a stream from its first notification, or once silence gets long. */
interface Response2026 {
  readonly signal: AbortSignal;
  notify: ModernRequest['notify'];
  answer(id: RpcId, reply: Reply | undefined): void;
}

const shape = ({ body }: Reply): HttpShape =>
  shapeOf(body, body.kind === 'error' ? statusOfError(body.error) : 200);

function createResponse(face: Face, res: ServerResponse): Response2026 {
  const stopped = new AbortController();
  const stop = (why: string): void => stopped.abort(why);
  const onClosing = (): void => stop('closing');
  let sse: SseSocket | undefined;
  const stream = (): SseSocket => (sse ??= openSse(res, face));
  const quiet = face.clock.after(face.keepAliveMs, () => void (res.destroyed || stream()));
  face.closing.addEventListener('abort', onClosing, { once: true });
  const settle = (): void => {
    quiet.cancel();
    face.closing.removeEventListener('abort', onClosing);
  };
  res.once('close', () => {
    settle();
    stop('gone');
  });
  const write = (id: RpcId, reply: Reply): Promise<Delivery> => {
    const message = responseOf(id, reply.body);
    if (!sse) return sendJson(res, message, shape(reply));
    const written = sse.write(sseText(message));
    sse.end();
    return written;
  };
  return {
    signal: stopped.signal,
    notify(method, params) {
      if (!stopped.signal.aborted && !res.writableEnded)
        void stream().write(sseText(notification(method, params)));
    },
    answer(id, reply) {
      settle();
      if (reply) void write(id, reply).then(reply.onDelivery);
      else res.destroy();
    },
  };
}

/** The steps before a method is looked for, each with HTTP 400: headers, `_meta`, version (T25). */
function readDoor(request: RpcRequest, req: IncomingMessage): Envelope {
  const problem = headerProblem(request, req.headers);
  if (problem) throw problem;
  return readEnvelope(request.params);
}

/** What annotated arguments of a known tool say in their headers. */
function argumentProblem(
  face: Face,
  { method, params }: RpcRequest,
  req: IncomingMessage,
): RpcFailure | undefined {
  if (method !== 'tools/call' || typeof params['name'] !== 'string') return undefined;
  const tool = face.surface.tool(params['name']);
  const args = params['arguments'];
  return tool && isJsonObject(args) ? paramHeaderProblem(tool, args, req.headers) : undefined;
}

function sinkOn(face: Face, res: ServerResponse, id: RpcId): Parameters<AcceptedListen['run']>[0] {
  const sse = openSse(res, face);
  return {
    notify: (method, params) => void sse.write(sseText(notification(method, params))),
    finish(result) {
      void sse.write(sseText(responseOf(id, { kind: 'result', result })));
      sse.end();
    },
  };
}

export function createHttp2026(face: Face, service: ModernService, listens: Listens): Http2026 {
  const refuse = (visit: ModernVisit, id: RpcId, thrown: unknown): void => {
    const body = finishReply(face, '', { kind: 'error', error: errorOfThrown(face, thrown) });
    void sendJson(visit.res, responseOf(id, body), shape({ body }));
  };
  /** Before a method is looked for, -32602 is about the envelope, and has HTTP 400 like the others (G2-122). */
  const refuseAtDoor = (visit: ModernVisit, id: RpcId, thrown: unknown): void => {
    const error = errorOfThrown(face, thrown);
    void sendJson(visit.res, responseOf(id, { kind: 'error', error }), { status: 400 });
  };
  const listen = async ({ res }: ModernVisit, request: ModernRequest): Promise<void> => {
    const accepted = await listens.accept(request);
    if (res.destroyed) accepted.discard();
    else accepted.run(sinkOn(face, res, request.id));
  };
  const listenSignal = (res: ServerResponse): AbortSignal => {
    const left = new AbortController();
    res.once('close', () => left.abort('gone'));
    return left.signal;
  };
  return {
    post(visit, message) {
      const { req, res, principal } = visit;
      const { id } = message;
      let envelope: Envelope;
      try {
        envelope = readDoor(message, req);
      } catch (error) {
        return refuseAtDoor(visit, id, error);
      }
      const problem = argumentProblem(face, message, req);
      if (problem) return refuseAtDoor(visit, id, problem);
      const common = { ...message, principal, envelope };
      if (message.method === 'subscriptions/listen') {
        const request = { ...common, signal: listenSignal(res), notify: () => undefined };
        return void listen(visit, request).catch((error: unknown) => refuse(visit, id, error));
      }
      const response = createResponse(face, res);
      const request = { ...common, signal: response.signal, notify: response.notify };
      void service
        .dispatch(request)
        .then((reply) => response.answer(id, reply))
        .catch((error: unknown) => unanswerable(face, res, error));
    },
  };
}
