import { sleep, type Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import { objectAt, type JsonObject } from '../kernel/json.ts';
import { askKindOf, type InputAnswer } from '../protocol/model.ts';
import { readInputRequired } from '../requestor/call-answer.ts';
import type { PeerQuestion } from '../requestor/attendance.ts';
import type { PeerAnswer, PeerRequest } from '../requestor/connection.ts';
import { capabilitiesFor } from '../requestor/envelope.ts';
import { headerParamsOf, paramHeaders } from '../requestor/header-params.ts';
import { readQuestions } from '../requestor/input-requests.ts';
import { answerFor, inputResponses, type OwnerReply } from '../requestor/owner-questions.ts';
import { passingResult } from '../requestor/passing-result.ts';
import type { Seat } from '../requestor/tool-call.ts';
import type { ForwardRequest } from '../runtime/surface.ts';
import type { ServedTool } from '../runtime/tool.ts';
import { createCallLine, type CallLine } from './call-line.ts';
import { asFailure, failureOf } from './failures.ts';
import type { Upstream } from './upstream.ts';

const ROUNDS_MAX = 32;
const STATE_ONLY_WAIT_MS = 1_000;
/** A request that was never sent, or whose session was gone, is sent once more. */
const TRIES_MAX = 2;

/** A request on its way to one upstream, its params already in the upstream's own names. */
export interface Passing {
  readonly upstream: Upstream;
  readonly request: ForwardRequest;
  readonly params: JsonObject;
  /** The tool, where it is a call. */
  readonly tool?: ServedTool;
  readonly logLevel: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** Passes a request on and its answer back. Rejects with RpcFailure. */
export async function passOn(passing: Passing): Promise<JsonObject> {
  const { upstream, request } = passing;
  const line = lineFor(passing);
  try {
    const answer = await sendInRounds(passing, line);
    // After its time as after its caller's goodbye the upstream may still be at it, and ask.
    const isGivenUp = request.signal.aborted || answer.kind === 'timeout';
    line.end(isGivenUp ? 'discard' : 'release');
    if (answer.kind !== 'result') throw failureOf(answer, upstream.options.name);
    return forCaller(passingResult(answer.result), request);
  } catch (error) {
    throw asFailure(error, upstream.options.name);
  } finally {
    line.end('release');
  }
}

/** `resultType` belongs to 2026-07-28 alone. */
function forCaller(result: JsonObject, { generation }: ForwardRequest): JsonObject {
  if (generation === '2026-07-28') return result;
  const { resultType: _resultType, ...rest } = result;
  return rest;
}

function lineFor({ upstream, request }: Passing): CallLine {
  const { principal, signal, asks } = request;
  const mayAsk = request.method === 'tools/call' && asks.length > 0;
  return createCallLine({
    lease: (until = signal) =>
      upstream.lease({ principalKey: principal.key, mayAsk, signal: until }),
    attendant: {
      ask: async (question) => answerFor(question, await askCaller(request, question)),
      progress: (params) => request.onProgress?.(params),
      log: (params) => request.onLog?.(params),
    },
  });
}

async function askCaller(request: ForwardRequest, question: PeerQuestion): Promise<OwnerReply> {
  const declared = request.asks.includes(askKindOf(question.method, question.params));
  if (!declared || !request.onAsk) return { kind: 'undeclared' };
  const answer = await request.onAsk(question).catch((): InputAnswer | undefined => undefined);
  return answer ? { kind: 'answer', answer } : { kind: 'withdrawn' };
}

/** Runs rounds of questions for callers whose revision has none; the others get the question as it is (G2-61). */
async function sendInRounds(passing: Passing, line: CallLine): Promise<PeerAnswer> {
  const { request, clock } = passing;
  let round: JsonObject = {};
  for (let count = 0; count < ROUNDS_MAX; count += 1) {
    const answer = await send(passing, line, round);
    const asks = answer.kind === 'result' && answer.result['resultType'] === 'input_required';
    if (!asks) return answer;
    const meaning = readInputRequired(answer.result);
    if (meaning.kind === 'invalid') return meaning;
    const read = readQuestions(meaning.requests);
    if (read.kind === 'invalid') return read;
    if (request.generation === '2026-07-28') return answer;
    if (read.questions.length === 0) await sleep(clock, STATE_ONLY_WAIT_MS, request.signal);
    const replies = await Promise.all(
      read.questions.map(([, question]) => askCaller(request, question)),
    );
    const answers = inputResponses(read.questions, replies);
    if (answers.kind === 'refused') return { kind: 'error', error: answers.error };
    const state = meaning.state === undefined ? {} : { requestState: meaning.state };
    round = { inputResponses: answers.responses, ...state };
  }
  return { kind: 'invalid', problem: `it asked for more than ${ROUNDS_MAX} rounds of input` };
}

async function send(passing: Passing, line: CallLine, round: JsonObject): Promise<PeerAnswer> {
  const { clock, timeoutMs } = passing;
  const since = clock.monotonic();
  const leftMs = (): number => Math.max(0, timeoutMs - (clock.monotonic() - since));
  for (let tries = 1; ; tries += 1) {
    const seat = await seatWithin(passing, line, leftMs());
    const request = requestFor({ ...passing, timeoutMs: leftMs() }, seat, round);
    const answer = await seat.connection.request(request);
    const again = answer.kind === 'unsent' || answer.kind === 'session_gone';
    if (!again || tries >= TRIES_MAX || passing.request.signal.aborted) return answer;
    line.hangUp();
  }
}

/** Waiting for a connection is part of the time that a request has: behind a silent upstream it would never end. */
async function seatWithin({ request, clock }: Passing, line: CallLine, ms: number): Promise<Seat> {
  const over = new AbortController();
  const timer = clock.after(ms, () => over.abort());
  try {
    return await line.seat(AbortSignal.any([request.signal, over.signal]));
  } catch (error) {
    if (!over.signal.aborted || request.signal.aborted) throw error;
    const problem = 'no connection to it was free in time; nothing was sent';
    throw new LongcallError('LONGCALL_UPSTREAM_UNREACHABLE', problem, { cause: error });
  } finally {
    timer.cancel();
  }
}

function requestFor(
  { request, params, tool, logLevel, timeoutMs }: Passing,
  seat: Seat,
  round: JsonObject,
): PeerRequest {
  // What nobody could pass on must not be asked.
  const asks = request.onAsk || request.generation === '2026-07-28' ? request.asks : [];
  const headers = tool && headerParamsOf(objectAt(tool.definition, 'inputSchema'));
  const mirrored =
    headers?.kind === 'valid' && seat.connection.generation === '2026-07-28' ? headers.params : [];
  return {
    method: request.method,
    params: { ...params, ...round },
    meta: request.meta,
    capabilities: capabilitiesFor(asks, { tasks: false }),
    ...(request.onLog ? { logLevel } : {}),
    headers: paramHeaders(mirrored, objectAt(params, 'arguments') ?? {}),
    attendance: seat.attendance,
    wantsProgress: request.onProgress !== undefined,
    timeoutMs,
    signal: request.signal,
  };
}
