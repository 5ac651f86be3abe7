import type { IncomingMessage } from 'node:http';
import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep } from '../kernel/clock.ts';
import { readEvents, type StreamEnd } from './event-stream.ts';
import { answersRequest, isSuccess, mediaType, parseJson } from './http-answer.ts';
import { ExchangeError } from './http-exchange.ts';
import type { HttpLink, HttpLinkOptions } from './http-link.ts';
import type { RpcId } from './rpc-message.ts';
import type { MessageSource, SendFailure } from './wire.ts';

const RECONNECT: Backoff = { firstMs: 250, maxMs: 15_000, factor: 2 };
/** How often a broken stream is taken up again before its answer counts as lost. */
const RESUMES_MAX = 5;
/** How often the standing stream may break at once before we do without it. */
const STANDING_FAILURES_MAX = 5;
/** A stream that lived this long was no failed attempt. */
const STEADY_MS = 1_000;

export interface StreamContext {
  readonly link: HttpLink;
  readonly options: HttpLinkOptions;
  readonly signal: AbortSignal;
  message(value: unknown, source: MessageSource): void;
}

/** What one stream has shown so far. */
interface StreamState {
  answered: boolean;
  lastEventId?: string;
  retryMs?: number;
}

/** Reads one event stream; `via` is the request that it belongs to. */
async function follow(
  context: StreamContext,
  response: IncomingMessage,
  reading: Reading,
): Promise<StreamEnd> {
  const { state, via } = reading;
  const end = readEvents(response, context.options.maxMessageBytes, {
    onData(text) {
      const value = parseJson(text);
      if (value === undefined) return;
      if (via !== undefined && answersRequest(value, via)) state.answered = true;
      context.message(value, {
        bytes: Buffer.byteLength(text),
        ...(via === undefined ? {} : { via }),
      });
    },
    onId: (id) => void (state.lastEventId = id),
    onRetry: (retryMs) => void (state.retryMs = retryMs),
  });
  return end.catch((error: unknown) => {
    if (error instanceof ExchangeError) return 'ended'; // what had come has come
    throw error;
  });
}

interface Reading {
  readonly state: StreamState;
  readonly via?: RpcId;
}

const waitMs = (context: StreamContext, state: StreamState, failures: number): number =>
  state.retryMs ?? backoffMs(RECONNECT, failures, context.options.random);

/**
 * Reads the answer of a request from its event stream. Only 2025-11-25 can take a broken stream up again, and only
 * one that had numbered its events (G1-128, G1-129, G2-158).
 */
export async function answerByStream(
  context: StreamContext,
  first: IncomingMessage,
  via: RpcId,
): Promise<SendFailure | undefined> {
  const state: StreamState = { answered: false };
  let response = first;
  for (let resumes = 0; ; resumes += 1) {
    const end = await follow(context, response, { state, via });
    if (state.answered) return undefined;
    if (end === 'too_large')
      return { kind: 'too_large', problem: 'its answer is longer than we take' };
    if (state.lastEventId === undefined || resumes >= RESUMES_MAX) break;
    await sleep(context.options.clock, waitMs(context, state, resumes), context.signal);
    if (context.signal.aborted) break;
    response = await context.link.get(context.signal, state.lastEventId);
    if (isSuccess(response)) continue;
    response.destroy();
    break;
  }
  return { kind: 'lost', problem: 'its stream ended without an answer' };
}

/** What became of the standing stream. `refused`: the peer has none, or has none any more. */
export type StandingEnd = 'refused' | 'session_gone' | 'stopped';

/**
 * Holds open the stream for what belongs to no request (G1-126), as long as the peer offers one. Rejects with
 * ExchangeError when the peer cannot be reached at all.
 */
export async function holdStanding(
  context: StreamContext,
  onOpen: (open: boolean) => void,
): Promise<StandingEnd> {
  const { clock } = context.options;
  const state: StreamState = { answered: false };
  for (let failures = 0; failures < STANDING_FAILURES_MAX; failures += 1) {
    const since = clock.monotonic();
    const response = await context.link.get(context.signal, state.lastEventId);
    if (!isSuccess(response) || mediaType(response) !== 'text/event-stream') {
      response.destroy();
      return response.statusCode === 404 ? 'session_gone' : 'refused';
    }
    onOpen(true);
    await follow(context, response, { state });
    onOpen(false);
    if (clock.monotonic() - since > STEADY_MS) failures = 0;
    await sleep(clock, waitMs(context, state, failures), context.signal);
    if (context.signal.aborted) return 'stopped';
  }
  return 'refused';
}
