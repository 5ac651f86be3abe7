import type { OutgoingHttpHeaders } from 'node:http';
import { STATUS_CODES } from 'node:http';
import { LongcallError, type ErrorCode, type LongcallErrorOptions } from '../../kernel/errors.ts';
import type { Verb } from '../../identity/permissions.ts';
import type { FailureSink } from '../mcp/failures.ts';
import { messageOf } from '../../kernel/logger.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** An error as an answer: RFC 9457, with the members that programs decide on. */
export interface Problem {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly document: object;
}

const HTTP_STATUS: Partial<Readonly<Record<ErrorCode, number>>> = {
  LONGCALL_USAGE: 400,
  LONGCALL_UNAUTHENTICATED: 401,
  LONGCALL_SCOPE_MISSING: 403,
  LONGCALL_REFUSED_BY_POLICY: 403,
  LONGCALL_TASK_UNKNOWN: 404,
  LONGCALL_TASK_RUNNING: 409,
  LONGCALL_IDEMPOTENCY_CONFLICT: 409,
  LONGCALL_ALREADY_CALLED: 410,
  LONGCALL_IDEMPOTENCY_KEY_INVALID: 400,
  LONGCALL_TOOL_UNKNOWN: 422,
  LONGCALL_ANSWER_INVALID: 422,
  LONGCALL_CAPACITY: 429,
  LONGCALL_DRAINING: 503,
  LONGCALL_STORE_FAILED: 503,
  LONGCALL_STORE_FULL: 503,
  LONGCALL_STORE_CLOSED: 503,
};

/** A refusal with a status or headers of its own. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly error: LongcallError;
  readonly status: number | undefined;
  readonly headers: OutgoingHttpHeaders;

  constructor(
    error: LongcallError,
    at: { readonly status?: number; readonly headers?: OutgoingHttpHeaders } = {},
  ) {
    super(error.message);
    this.error = error;
    this.status = at.status;
    this.headers = at.headers ?? {};
  }
}

const retryAfter = (data: LongcallError['data']): OutgoingHttpHeaders => {
  const ms = data['retryAfterMs'];
  return typeof ms === 'number' ? { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) } : {};
};

export function problemOf(refusal: Refusal): Problem {
  const { error } = refusal;
  const status = refusal.status ?? HTTP_STATUS[error.code] ?? 500;
  const document = {
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: error.message,
    code: error.code,
    hint: error.hint ?? null,
    retryable: error.retryable,
    ...error.data,
  };
  return { status, document, headers: { ...retryAfter(error.data), ...refusal.headers } };
}

const STORE_RETRY_MS = 5_000;

/** What was thrown, as a refusal. What is nobody's to know stays in the log, under the id that the caller gets. */
export function refusalOf(sink: FailureSink, thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const errorId = Buffer.from(sink.random.bytes(9)).toString('base64url');
  sink.logger.error('face.request_failed', { errorId, problem: messageOf(thrown) });
  const isStore = thrown instanceof LongcallError && HTTP_STATUS[thrown.code] === 503;
  const code = isStore ? thrown.code : 'LONGCALL_INTERNAL';
  const words = isStore
    ? 'the records cannot be read or written now'
    : 'the request failed on an error of longcall’s own';
  const written = isStore ? { written: thrown.data['written'] ?? 'unknown' } : {};
  const retry = isStore ? { retryAfterMs: STORE_RETRY_MS } : {};
  const data = { errorId, ...written, ...retry };
  return new Refusal(
    new LongcallError(code, words, { data, hint: `look for ${errorId} in the log` }),
  );
}

export const refusing = (code: ErrorCode, words: string, options?: LongcallErrorOptions): Refusal =>
  new Refusal(new LongcallError(code, words, options));

export const usage = (words: string, status = 400): Refusal =>
  new Refusal(new LongcallError('LONGCALL_USAGE', words), { status });

/** One answer for unknown, expired and foreign ids alike, down to the byte (T13). */
export const noSuchJob = (): Refusal =>
  refusing('LONGCALL_TASK_UNKNOWN', 'there is no such job: the id is unknown, or it has expired');

export const stillRunning = (retryAfterMs: number): Refusal =>
  refusing('LONGCALL_TASK_RUNNING', 'the job has not ended yet, so it has no result', {
    hint: 'wait for it with GET /jobs/{id}/wait',
    data: { retryAfterMs },
  });

export const scopeMissing = (scope: Verb): Refusal =>
  new Refusal(
    new LongcallError('LONGCALL_SCOPE_MISSING', `the credential lacks the scope ${scope}`),
    {
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    },
  );

export const tooManyReads = (retryAfterMs: number): Refusal =>
  refusing('LONGCALL_CAPACITY', 'status is read too often; nothing is lost', {
    hint: 'wait in one request with GET /jobs/{id}/wait, or keep to lookAgainAfterMs',
    data: { retryAfterMs },
  });

export const draining = (): Refusal =>
  refusing('LONGCALL_DRAINING', 'this process is shutting down; ask the next one', {
    data: { retryAfterMs: 5_000 },
  });
