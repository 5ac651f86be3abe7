import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { objectAt, type JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { SUBSCRIPTION_META } from '../protocol/names.ts';
import type { Attendance, AttendanceBook, Attendant } from './attendance.ts';
import type { ConnectionOptions, PeerAnswer, PeerGeneration, PeerRequest } from './connection.ts';
import { envelop } from './request-envelope.ts';
import { isRpcId, type RawMessage, type RpcId } from './rpc-message.ts';
import type { SendFailure } from './wire.ts';

/** An answered exchange whose stream the peer does not end is closed after this time. */
const STREAM_LINGER_MS = 5_000;

interface Pending {
  readonly request: PeerRequest;
  settle(answer: PeerAnswer): void;
}

/** Our requests on one connection, by id. */
export interface Calls {
  request(request: PeerRequest): Promise<PeerAnswer>;
  settle(
    message: Exclude<RawMessage, { readonly kind: 'request' | 'notification' }>,
    bytes: number,
  ): void;
  /** Params of the acknowledgement of a subscription; they name the request (G2-101, G2-102). */
  acknowledge(params: JsonObject): void;
  fail(id: RpcId, failure: SendFailure): void;
  failAll(failure: SendFailure): void;
  /** Whose request that is. */
  attendantOf(id: RpcId | undefined): Attendant | undefined;
  attendantOfToken(token: unknown): Attendant | undefined;
  whenIdle(then: () => void): void;
}

export interface CallsContext {
  readonly generation: PeerGeneration;
  readonly book: AttendanceBook;
}

export function createCalls(options: ConnectionOptions, { generation, book }: CallsContext): Calls {
  const { wire, clock, idPrefix } = options;
  const pending = new Map<RpcId, Pending>();
  const tokens = createTokens(book);
  const idle = new Set<() => void>();
  let count = 0;

  const forget = (id: RpcId): void => {
    pending.delete(id);
    if (wire.kind === 'http') clock.after(STREAM_LINGER_MS, () => wire.drop(id));
    if (pending.size > 0) return;
    for (const then of idle) then();
    idle.clear();
  };
  const cancel = (id: RpcId, reason: string): void => {
    if (wire.kind === 'http' && generation === '2026-07-28') return wire.drop(id); // G2-92
    const params = { requestId: id, reason };
    const drop = (): void => wire.drop(id);
    wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).then(drop, drop);
  };
  return {
    request(request) {
      if (request.signal?.aborted === true) return Promise.resolve({ kind: 'aborted' });
      count += 1;
      const id = `${idPrefix}-${count}`;
      const call = openCall(request, clock, {
        giveUp: (reason) => cancel(id, reason),
        end: () => forget(id),
      });
      pending.set(id, { request, settle: call.settle });
      const token = tokens.issue(request, id);
      wire
        .send(envelop(request, { id, options, generation, token }), sendOptions(request))
        .then((failure) => failure && call.settle(failure))
        .catch((error: unknown) => call.settle({ kind: 'lost', problem: messageOf(error) }));
      return call.answer;
    },
    settle(message, bytes) {
      if (message.id === undefined) return; // nobody can say whose it is
      pending.get(message.id)?.settle(answerOf(message, bytes)); // a late answer belongs to nobody (G1-74)
    },
    acknowledge(params) {
      const id = objectAt(params, '_meta')?.[SUBSCRIPTION_META];
      if (isRpcId(id)) pending.get(id)?.request.onAcknowledged?.();
    },
    fail: (id, failure) => pending.get(id)?.settle(failure),
    failAll: (failure) => Array.from(pending.values()).forEach((call) => call.settle(failure)),
    attendantOf: (id) =>
      id === undefined ? undefined : book.at(pending.get(id)?.request.attendance),
    attendantOfToken: (token) => tokens.attendantOf(token),
    whenIdle: (then) => (pending.size === 0 ? then() : void idle.add(then)),
  };
}

interface OpenCall {
  readonly answer: Promise<PeerAnswer>;
  settle(answer: PeerAnswer): void;
}

interface CallEnds {
  /** The peer is to stop working on it. */
  giveUp(reason: string): void;
  end(): void;
}

/** A request that waits for its answer, its deadline or its caller's abort, whichever comes first. */
function openCall(
  { signal, timeoutMs, passesAbort }: PeerRequest,
  clock: Clock,
  ends: CallEnds,
): OpenCall {
  const answer = createDeferred<PeerAnswer>();
  let over = false;
  const settle = (given: PeerAnswer): void => {
    if (over) return;
    over = true;
    timer?.cancel();
    signal?.removeEventListener('abort', onAbort);
    ends.end();
    answer.resolve(given);
  };
  const onAbort = (): void => {
    if (passesAbort?.(signal?.reason) ?? true) ends.giveUp('the caller no longer wants it');
    settle({ kind: 'aborted' });
  };
  const onTimeout = (): void => {
    ends.giveUp('no answer in time');
    settle({ kind: 'timeout' });
  };
  const timer = timeoutMs === undefined ? undefined : clock.after(timeoutMs, onTimeout);
  signal?.addEventListener('abort', onAbort, { once: true });
  return { answer: answer.promise, settle };
}

interface Tokens {
  /** The token of a request that wants progress. */
  issue(request: PeerRequest, id: string): string | undefined;
  attendantOf(token: unknown): Attendant | undefined;
}

/** Progress tokens outlive their request: a task of 2025-11-25 goes on using its own (G1-140). */
function createTokens(book: AttendanceBook): Tokens {
  const tokens = new Map<string, Attendance>();
  return {
    issue({ attendance, wantsProgress }, id) {
      if (attendance === undefined || wantsProgress !== true) return undefined;
      for (const [token, holder] of tokens) if (book.at(holder) === undefined) tokens.delete(token);
      tokens.set(id, attendance);
      return id;
    },
    attendantOf: (token) => (typeof token === 'string' ? book.at(tokens.get(token)) : undefined),
  };
}

function answerOf(message: Parameters<Calls['settle']>[0], bytes: number): PeerAnswer {
  switch (message.kind) {
    case 'result':
      return { kind: 'result', result: message.result, bytes };
    case 'error':
      return { kind: 'error', error: message.error };
    case 'invalid':
      return { kind: 'invalid', problem: message.problem };
  }
}

function sendOptions({ headers, freshSocket }: PeerRequest) {
  return {
    ...(headers === undefined ? {} : { headers }),
    ...(freshSocket === undefined ? {} : { freshSocket }),
  };
}
