import type { IncomingMessage } from 'node:http';
import type { Json, JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { answersRequest, isSuccess, mediaType, parseJson, readRefusal } from './http-answer.ts';
import { ExchangeError, readBody } from './http-exchange.ts';
import { createHttpLink, type HttpLink, type HttpLinkOptions } from './http-link.ts';
import { answerByStream, holdStanding, type StreamContext } from './http-streams.ts';
import { isRpcId, type RpcId } from './rpc-message.ts';
import { DEAF, type SendFailure, type Wire, type WireListener } from './wire.ts';

const GOODBYE_MS_MAX = 2_000;
/** How long a peer may take to accept a message that gets no answer; a request has the deadline of its caller. */
const ACCEPT_MS_MAX = 20_000;

/** The mutable part of an HTTP wire. */
interface HttpState {
  listener: WireListener;
  /** Why nothing new is sent on it; what is under way goes on. */
  retired?: string;
  /** Whether the standing stream is open. */
  standing: boolean;
}

interface HttpContext {
  readonly link: HttpLink;
  readonly options: HttpLinkOptions;
  readonly state: HttpState;
}

/** The id of a message that waits for an answer. */
const requestIdOf = (message: JsonObject): RpcId | undefined =>
  typeof message['method'] === 'string' && isRpcId(message['id']) ? message['id'] : undefined;

function retire({ state }: HttpContext, problem: string): void {
  if (state.retired !== undefined) return;
  state.retired = problem;
  state.listener.closed(problem);
}

function streamContext({ link, options, state }: HttpContext, signal: AbortSignal): StreamContext {
  return {
    link,
    options,
    signal,
    message: (value, source) => state.listener.message(value, source),
  };
}

/** A wire over Streamable HTTP: one POST a message, each request with a stream of its own. */
export function createHttpWire(options: HttpLinkOptions): Wire {
  const link = createHttpLink(options);
  const state: HttpState = { listener: DEAF, standing: false };
  const context: HttpContext = { link, options, state };
  const exchanges = new Map<RpcId, AbortController>();
  const standing = new AbortController();
  return {
    kind: 'http',
    pid: () => undefined,
    keepsState: () => link.sessionId() !== undefined,
    isWatched: () => state.standing,
    listen: (listener) => void (state.listener = listener),
    start: () => Promise.resolve(),
    setProtocolVersion: (version) => link.setProtocolVersion(version),
    async send(message, sending = {}) {
      if (state.retired !== undefined) return { kind: 'unsent', problem: state.retired };
      const control = new AbortController();
      const id = requestIdOf(message);
      if (id !== undefined) exchanges.set(id, control);
      const limit =
        id === undefined ? options.clock.after(ACCEPT_MS_MAX, () => control.abort()) : undefined;
      try {
        const response = await link.post(message, sending, control.signal);
        const failure = await readAnswer(streamContext(context, control.signal), response, message);
        if (isSuccess(response)) afterSuccess(context, message, standing.signal);
        if (failure?.kind === 'session_gone') retire(context, failure.problem);
        return failure;
      } catch (error) {
        return failureOf(context, error, control.signal);
      } finally {
        limit?.cancel();
        if (id !== undefined) exchanges.delete(id);
      }
    },
    drop: (id) => exchanges.get(id)?.abort(),
    async close(graceMs) {
      standing.abort();
      for (const control of exchanges.values()) control.abort();
      if (link.sessionId() !== undefined && state.retired === undefined)
        await sayGoodbye(context, graceMs);
      retire(context, 'it was closed');
      link.destroy();
    },
  };
}

async function readAnswer(
  context: StreamContext,
  response: IncomingMessage,
  message: JsonObject,
): Promise<SendFailure | undefined> {
  const id = requestIdOf(message);
  if (!isSuccess(response)) return refused(context, response, id);
  if (message['method'] === 'initialize')
    context.link.setSessionId(headerOf(response, 'mcp-session-id'));
  if (id === undefined) {
    response.resume();
    return undefined;
  }
  if (mediaType(response) === 'text/event-stream') return answerByStream(context, response, id);
  return answerByBody(context, response, id);
}

async function answerByBody(
  context: StreamContext,
  response: IncomingMessage,
  id: RpcId,
): Promise<SendFailure | undefined> {
  const body = await readBody(response, context.options.maxMessageBytes);
  if (body === undefined)
    return { kind: 'too_large', problem: 'its answer is longer than we take' };
  const value = parseJson(body.toString('utf8')) as Json | undefined;
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const message of messages) context.message(message, { bytes: body.length, via: id });
  if (messages.some((message) => answersRequest(message, id))) return undefined;
  return { kind: 'invalid', problem: 'its answer is no message for this request' };
}

/** A refusal in JSON-RPC is an answer like any other, whatever the HTTP status (T39). */
async function refused(
  context: StreamContext,
  response: IncomingMessage,
  id: RpcId | undefined,
): Promise<SendFailure | undefined> {
  const { failure, error } = await readRefusal(response, context.link.sessionId() !== undefined);
  if (failure.kind === 'session_gone' || error === undefined || id === undefined) return failure;
  if (response.statusCode === 401 || response.statusCode === 403) return failure; // about our credentials
  if (error['id'] !== id && isRpcId(error['id'])) return failure;
  context.message({ ...error, id }, { bytes: 0, via: id });
  return undefined;
}

function afterSuccess(context: HttpContext, message: JsonObject, signal: AbortSignal): void {
  if (message['method'] !== 'notifications/initialized') return;
  const setOpen = (open: boolean): void => void (context.state.standing = open);
  holdStanding(streamContext(context, signal), setOpen).then(
    (end) => end === 'session_gone' && retire(context, 'it does not know our session any more'),
    // A peer that had just answered and cannot be reached now is gone.
    (error: unknown) => signal.aborted || retire(context, messageOf(error)),
  );
}

function failureOf(context: HttpContext, error: unknown, signal: AbortSignal): SendFailure {
  if (!(error instanceof ExchangeError)) throw error;
  if (error.failure.kind === 'unsent' && !signal.aborted) retire(context, error.failure.problem);
  return error.failure;
}

/** Ends the session, so that the peer need not keep it; a peer that will not hear it is left alone. */
async function sayGoodbye({ link, options }: HttpContext, graceMs: number): Promise<void> {
  const control = new AbortController();
  const timer = options.clock.after(Math.min(graceMs, GOODBYE_MS_MAX), () => control.abort());
  await link
    .delete(control.signal)
    .then((response) => response.resume())
    .catch(() => undefined);
  timer.cancel();
}

function headerOf(response: IncomingMessage, name: string): string | undefined {
  const value = response.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
