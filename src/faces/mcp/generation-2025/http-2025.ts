import type { ServerResponse } from 'node:http';
import type { Face } from '../face.ts';
import { answerRefusal, errorOfThrown } from '../failures.ts';
import { accept, refuse, sendJson, unanswerable } from '../http/answer.ts';
import type { RpcMessage, RpcRequest } from '../message.ts';
import { errorReply, responseOf } from '../reply.ts';
import { initializeResult, readInitialize } from './initialize.ts';
import { createHttpSessions, type HttpSession, type HttpSessions } from './http-sessions.ts';
import { createPostExchange } from './post-exchange.ts';
import { canRead, enterSession, headerOf, turnAway, type Visit } from './session-door.ts';
import type { ResponseVerdict } from './session.ts';
import type { SessionService } from './session-service.ts';
import { takesBatches } from './versions.ts';

/** Streamable HTTP of 2025-11-25 and older: sessions, POST, GET, DELETE. */
export interface Http2025 {
  post(visit: Visit, messages: readonly RpcMessage[], isBatch: boolean): void;
  get(visit: Visit): void;
  delete(visit: Visit): void;
  close(): void;
}

const isRequest = (message: RpcMessage): message is RpcRequest => message.kind === 'request';

const isInitialize = (message: RpcMessage): message is RpcRequest =>
  isRequest(message) && message.method === 'initialize';

/** What is wrong with a batch before a session is asked for. */
function batchProblem(messages: readonly RpcMessage[]): string | undefined {
  if (messages.length === 0) return 'it is empty';
  const invalid = messages.find((message) => message.kind === 'invalid');
  if (invalid) return invalid.problem;
  const ids = messages.filter(isRequest).map(({ id }) => id);
  if (new Set(ids).size < ids.length) return 'two requests have the same id';
  return messages.some(isInitialize) ? 'initialize must come alone' : undefined;
}

/** A stream ends with the credential that opened it; whoever has a new one resumes it. */
function endAtExpiry({ clock }: Face, { res, principal: { expiresAt } }: Visit): void {
  if (expiresAt === undefined) return;
  const timer = clock.after(expiresAt - clock.now(), () => res.destroy());
  res.once('close', () => timer.cancel());
}

function initialize(face: Face, sessions: HttpSessions) {
  return ({ res, principal }: Visit, { id, params }: RpcRequest): void => {
    try {
      const greeting = readInitialize(params);
      const { session } = sessions.open(principal, greeting);
      const result = initializeResult(face, greeting.version, principal);
      const headers = { 'mcp-session-id': session.id };
      void sendJson(res, responseOf(id, { kind: 'result', result }), { headers });
    } catch (error) {
      void sendJson(res, responseOf(id, errorReply(errorOfThrown(face, error)).body));
    }
  };
}

/**
 * 202, or why an answer was not taken, with its own status (G1-125): late, or none that can be one. Who answers is not
 * to learn it from silence (Q1).
 */
async function acceptAll(
  face: Face,
  res: ServerResponse,
  verdicts: readonly Promise<ResponseVerdict>[],
): Promise<void> {
  try {
    const refusal = (await Promise.all(verdicts)).map(answerRefusal).find((each) => each);
    if (refusal) refuse(res, refusal, { status: 400 });
    else accept(res);
  } catch (error) {
    unanswerable(face, res, error);
  }
}

function serveMessages(face: Face, service: SessionService) {
  return (visit: Visit, held: HttpSession, messages: readonly RpcMessage[]): void => {
    const { session } = held;
    const { res, principal } = visit;
    for (const message of messages) {
      if (message.kind === 'notification') service.notified(session, message);
    }
    const verdicts = messages
      .filter((message) => message.kind === 'response')
      .map((message) => session.takeResponse(message));
    const requests = messages.filter(isRequest);
    if (requests.length === 0) return void acceptAll(face, res, verdicts);
    for (const verdict of verdicts) void verdict.catch(() => undefined); // this POST answers its requests
    endAtExpiry(face, visit);
    const ids = requests.map(({ id }) => id);
    const exchange = createPostExchange({ face, held, res, ids });
    for (const request of requests)
      void service
        .dispatch({ ...exchange, ...request, session, principal })
        .then((reply) => exchange.answer(request.id, reply))
        .catch((error: unknown) => unanswerable(face, res, error));
  };
}

export function createHttp2025(face: Face, service: SessionService): Http2025 {
  const sessions = createHttpSessions(face, service);
  const greet = initialize(face, sessions);
  const serve = serveMessages(face, service);
  return {
    post(visit, messages, isBatch) {
      const [first] = messages;
      if (!isBatch && first && isInitialize(first)) return greet(visit, first);
      const problem = isBatch ? batchProblem(messages) : undefined;
      if (problem !== undefined) return turnAway(visit, 400, `invalid batch: ${problem}`);
      if (!canRead(visit.req, 'application/json', 'text/event-stream'))
        return turnAway(visit, 406, 'Accept must name application/json and text/event-stream');
      const held = enterSession(sessions, visit);
      if (!held) return;
      const { version } = held.session;
      if (isBatch && !takesBatches(version))
        return turnAway(visit, 400, `batches are no part of ${version}`);
      serve(visit, held, messages);
    },
    get(visit) {
      if (!canRead(visit.req, 'text/event-stream'))
        return turnAway(visit, 406, 'Accept must name text/event-stream');
      const held = enterSession(sessions, visit);
      if (!held) return;
      endAtExpiry(face, visit);
      const lastEventId = headerOf(visit.req, 'last-event-id');
      if (lastEventId === undefined) return held.streams.openGet(visit.res);
      if (!held.streams.resume(lastEventId, visit.res))
        turnAway(visit, 400, 'Last-Event-ID names no stream of this session that can be resumed');
    },
    delete(visit) {
      const held = enterSession(sessions, visit);
      if (!held) return;
      sessions.end(held);
      void sendJson(visit.res, {});
    },
    close: sessions.close,
  };
}
