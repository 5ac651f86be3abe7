import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep } from '../kernel/clock.ts';
import { objectAt, type JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import type { UpstreamTask } from '../stores/attempts.ts';
import { endOf, resultEnd } from './call-end.ts';
import { readCallAnswer, type CallAnswer, type InputRequired } from './call-answer.ts';
import {
  speaksTasks2026,
  type Connection,
  type PeerAnswer,
  type PeerRequest,
} from './connection.ts';
import { capabilitiesFor } from './envelope.ts';
import { paramHeaders } from './header-params.ts';
import { readQuestions } from './input-requests.ts';
import { observe2025 } from './observe-2025.ts';
import { observe2026 } from './observe-2026.ts';
import { inputResponses } from './owner-questions.ts';
import type { CallContext, Seat, ToolCall, ToolCallEnd } from './tool-call.ts';

/** Rounds of `InputRequiredResult`; a peer that goes on asking after that is not going to end. */
const ROUNDS_MAX = 32;
/** A peer that only wants to be asked again later is given this time. */
const STATE_ONLY_WAIT_MS = 1_000;

/**
 * A call that is cancelled while its task's handle may be on the way is waited for this long: without the handle the
 * task cannot be cancelled, and its work would go on (C1). Less than the 2 s in which a cancel has to arrive.
 */
const HANDLE_WAIT_MS = 1_000;

/** Tries of a later round that the peer has seen nothing of. */
const ROUND_TRIES_MAX = 5;
const ROUND_RETRY: Backoff = { firstMs: 200, maxMs: 5_000, factor: 3 };

/** Makes the call and stays until its end, whatever the peer makes of it: an answer, questions, a task. */
export async function callTool(context: CallContext): Promise<ToolCallEnd> {
  await context.line.seat(); // a peer that cannot be reached is found out before anything counts as sent
  if (!(await context.hooks.dispatched())) return { kind: 'fenced' };
  let round: JsonObject = {};
  for (let count = 0; count < ROUNDS_MAX; count += 1) {
    const send = count === 0 ? sendRound : sendLaterRound;
    const answered = await send(context, round);
    if (answered.kind !== 'answered') return answered;
    const { answer, meaning } = answered;
    if (meaning.kind === 'invalid') return meaning;
    if (meaning.kind === 'complete') return resultEnd(answer.result, answer.bytes, context.call);
    if (meaning.kind === 'task') return observeNew(context, meaning.task);
    const next = await nextRound(context, meaning);
    if (next.kind !== 'round') return next;
    round = next.round;
  }
  return { kind: 'invalid', problem: `it asked for more than ${ROUNDS_MAX} rounds of input` };
}

interface Answered {
  readonly kind: 'answered';
  readonly answer: Extract<PeerAnswer, { readonly kind: 'result' }>;
  readonly meaning: CallAnswer;
}

async function sendRound(context: CallContext, round: JsonObject): Promise<Answered | ToolCallEnd> {
  const seat = await context.line.seat();
  const { connection } = seat;
  const augmented = wantsTask(connection, context.call);
  const answer = await connection.request(requestFor(context, seat, { round, augmented }));
  if (answer.kind !== 'result') return endOf(answer);
  const meaning = readCallAnswer(answer.result, connection.generation, augmented);
  return { kind: 'answered', answer, meaning };
}

/**
 * Goes on with a call that the peer has seen already: a round that was not sent is sent again, and never the call from
 * its beginning. Where no round gets through, what the peer did before it asked stays unknown (decision 6).
 */
async function sendLaterRound(
  context: CallContext,
  round: JsonObject,
): Promise<Answered | ToolCallEnd> {
  const { line, signal, clock, random } = context;
  for (let failures = 0; ; failures += 1) {
    const sent = await sendRound(context, round).catch((error: unknown): ToolCallEnd => {
      return { kind: 'unsent', problem: messageOf(error) };
    });
    if (sent.kind !== 'unsent') return sent;
    if (signal.aborted) return { kind: 'stopped' };
    if (failures + 1 >= ROUND_TRIES_MAX)
      return { kind: 'lost', problem: `the answers did not reach it: ${sent.problem}` };
    line.hangUp();
    await sleep(clock, backoffMs(ROUND_RETRY, failures, random), signal);
  }
}

/** Goes on observing a task that an earlier run has left behind; nothing is called again. */
export function observeTask(context: CallContext, task: UpstreamTask): Promise<ToolCallEnd> {
  context.line.observe(task.taskId);
  return task.generation === '2026-07-28' ? observe2026(context, task) : observe2025(context, task);
}

async function observeNew(context: CallContext, task: UpstreamTask): Promise<ToolCallEnd> {
  context.line.observe(task.taskId);
  if (!(await context.hooks.journal(task))) return { kind: 'fenced' };
  return observeTask(context, task);
}

/** Whether the peer runs this tool as a task of 2025-11-25: never where it says `forbidden` (G1-06, G1-08, T2). */
function wantsTask({ generation, hello }: Connection, { taskSupport }: ToolCall): boolean {
  if (generation !== '2025-11-25' || taskSupport === 'forbidden') return false;
  const requests = objectAt(objectAt(hello.capabilities, 'tasks'), 'requests');
  return objectAt(objectAt(requests, 'tools'), 'call') !== undefined;
}

interface Round {
  readonly round: JsonObject;
  readonly augmented: boolean;
}

function requestFor(
  context: CallContext,
  { connection, attendance }: Seat,
  { round, augmented }: Round,
): PeerRequest {
  const { call } = context;
  const mayBecomeTask = augmented || speaksTasks2026(connection);
  const signal = mayBecomeTask ? heldForHandle(context) : context.signal;
  return {
    method: 'tools/call',
    params: {
      name: call.name,
      arguments: call.arguments,
      ...(augmented ? { task: { ttl: call.taskTtlMs } } : {}),
      ...round,
    },
    meta: call.meta,
    capabilities: capabilitiesFor(call.asks, { tasks: speaksTasks2026(connection) }),
    logLevel: call.logLevel,
    headers: paramHeaders(
      connection.generation === '2026-07-28' ? call.headerParams : [],
      call.arguments,
    ),
    freshSocket: true,
    attendance,
    wantsProgress: true,
    signal,
    passesAbort: (reason) => context.passesAbort(reason),
  };
}

/** The call's signal, later by the time that a handle may need; at once where nothing would be cancelled anyway. */
function heldForHandle({ signal, clock, passesAbort }: CallContext): AbortSignal {
  if (signal.aborted) return signal;
  const later = new AbortController();
  const abort = (): void => later.abort(signal.reason);
  const onAbort = (): void =>
    passesAbort(signal.reason) ? void clock.after(HANDLE_WAIT_MS, abort) : abort();
  signal.addEventListener('abort', onAbort, { once: true });
  return later.signal;
}

type NextRound = { readonly kind: 'round'; readonly round: JsonObject } | ToolCallEnd;

/** Asks the owner what the peer wants to know; the call is then sent again, as a new request, with the answers (G2-63). */
async function nextRound(
  { hooks, clock, signal }: CallContext,
  { requests, state }: InputRequired,
): Promise<NextRound> {
  const read = readQuestions(requests);
  if (read.kind === 'invalid') return read;
  const { questions } = read;
  if (questions.length === 0) await sleep(clock, STATE_ONLY_WAIT_MS, signal);
  const replies =
    questions.length === 0
      ? []
      : await hooks.ask(
          questions.map(([, question]) => question),
          signal,
        );
  if (signal.aborted) return { kind: 'stopped' };
  const answers = inputResponses(questions, replies);
  if (answers.kind === 'refused') return { kind: 'error', error: answers.error };
  const given = questions.length === 0 ? {} : { inputResponses: answers.responses };
  return {
    kind: 'round',
    round: { ...given, ...(state === undefined ? {} : { requestState: state }) },
  };
}
