import { formatDuration } from '../../kernel/durations.ts';
import { LongcallError, type ErrorCode } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import { messageOf, type Logger } from '../../kernel/logger.ts';
import type { Random } from '../../kernel/random.ts';
import { safeText } from '../../kernel/text.ts';
import type { RpcError, Task } from '../../protocol/model.ts';
import { RPC_CODES, TASKS_EXTENSION } from '../../protocol/names.ts';
import { RpcFailure } from '../../runtime/surface.ts';
import type { ServedTool } from '../../runtime/tool.ts';
import { FACE_CODES } from './error-codes.ts';

const shown = (text: string): string => safeText(text, 80);

/** One answer for unknown, expired and foreign ids alike, down to the byte (T13, G1-90, G2-114). */
export const noSuchTask = (): RpcFailure =>
  new RpcFailure(
    RPC_CODES.invalidParams,
    'no such task: the id is unknown, or its record has expired',
  );

export const noSuchMethod = (method: string): RpcFailure =>
  new RpcFailure(RPC_CODES.methodNotFound, `method not found: ${shown(method)}`);

export const noSuchTool = (name: string): RpcFailure =>
  new RpcFailure(RPC_CODES.invalidParams, `unknown tool: ${shown(name)}`);

export const invalidParams = (problem: string): RpcFailure =>
  new RpcFailure(RPC_CODES.invalidParams, `invalid params: ${problem}`);

/** An id names one request at a time: a request that comes twice runs once. */
export const idInUse = (): RpcFailure =>
  new RpcFailure(
    RPC_CODES.invalidRequest,
    'invalid request: a request with this id is still running; nothing was started',
  );

/** G1-09: decided before anything runs (T2). */
export const noTaskSupport = (tool: ServedTool): RpcFailure =>
  new RpcFailure(
    RPC_CODES.methodNotFound,
    `tool ${shown(tool.name)} cannot be called as a task: send the call without params.task`,
  );

/** G1-12, T1. */
export const taskRequired2025 = (tool: ServedTool): RpcFailure =>
  new RpcFailure(
    RPC_CODES.methodNotFound,
    `tool ${shown(tool.name)} must be called as a task: send the call with params.task`,
  );

/** G2-05, G2-116, G2-117: `requiredCapabilities` is a capabilities object. */
export const extensionRequired = (what: string): RpcFailure =>
  new RpcFailure(
    RPC_CODES.missingCapability,
    `${what} needs the extension ${TASKS_EXTENSION} in this request's clientCapabilities`,
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  );

export const refusedByPolicy = (tool: ServedTool): RpcFailure =>
  new RpcFailure(FACE_CODES.forbidden, `policy refuses calls of ${shown(tool.name)}`, {
    reason: 'policy',
    remedy: `ask the operator of this gateway; the tool is served as: ${safeText(tool.why)}`,
  });

export const scopeMissing = (scope: string): RpcFailure =>
  new RpcFailure(FACE_CODES.forbidden, `the credential lacks the scope ${scope}`, {
    reason: 'insufficient_scope',
    scope,
  });

export const atCapacity = (limit: string, retryAfterMs: number): RpcFailure =>
  new RpcFailure(
    FACE_CODES.capacity,
    `too much is open (${limit}): nothing was started; try again in ${formatDuration(retryAfterMs)}`,
    { reason: 'capacity', limit, retryAfterMs },
  );

export const tooManyReads = (retryAfterMs: number): RpcFailure =>
  new RpcFailure(
    FACE_CODES.capacity,
    'status is read too often: keep to pollInterval, or wait in one request; nothing is lost',
    { reason: 'status_reads', retryAfterMs },
  );

const DRAINING_RETRY_MS = 5000;

export const draining = (): RpcFailure =>
  new RpcFailure(
    FACE_CODES.unavailable,
    'shutting down: this process takes and answers nothing any more; ask the next one',
    { reason: 'draining', retryAfterMs: DRAINING_RETRY_MS },
  );

const effectWords = (task: Task): string =>
  task.operationId === undefined
    ? 'the tool only reads, so the call may be repeated'
    : `whether it took effect is not known (operation ${task.operationId}): do not repeat it before that is settled`;

/** Late is no mistake of whoever answers: the question is over, and asking anew is the caller's own affair (Q1). */
const lateAnswer = (): RpcError => ({
  code: RPC_CODES.invalidRequest,
  message: 'expired: the question was not answered in time; this answer was not taken',
  data: { reason: 'input_expired' },
});

/** Why an answer to a request of ours was not taken, if it was not. */
export function answerRefusal(
  verdict:
    | { readonly kind: 'taken' | 'ignored' | 'expired' }
    | { readonly kind: 'malformed'; readonly problem: string },
): RpcError | undefined {
  if (verdict.kind === 'expired') return lateAnswer();
  if (verdict.kind !== 'malformed') return undefined;
  const message = `the answer was not taken, the question stays open: ${verdict.problem}`;
  return { code: RPC_CODES.invalidParams, message, data: { reason: 'malformed_answer' } };
}

/** A plain call that met its limit: what is known, and how to let it run longer. */
export function plainLimitReached(tool: ServedTool, task: Task, asTask?: string): RpcFailure {
  const limit = formatDuration(tool.plainLimitMs);
  const longer = asTask === undefined ? '' : `; ${asTask} to let it run longer`;
  return new RpcFailure(
    RPC_CODES.internalError,
    `the call reached its limit of ${limit} and was cancelled upstream; ${effectWords(task)}${longer}`,
    { reason: 'plain_limit', limitMs: tool.plainLimitMs, operationId: task.operationId },
  );
}

/** The same where another caller waits for the same call, so that nothing was stopped. */
export function sharedLimitReached(tool: ServedTool, task: Task): RpcFailure {
  const limit = formatDuration(tool.plainLimitMs);
  return new RpcFailure(
    RPC_CODES.internalError,
    `the call reached its limit of ${limit} and goes on, since it was made more than once; send the same call again to wait on`,
    { reason: 'plain_limit', limitMs: tool.plainLimitMs, operationId: task.operationId },
  );
}

/** A plain call that somebody stopped, so that it has no result of its own. */
export const callCancelled = (task: Task): RpcFailure =>
  new RpcFailure(RPC_CODES.internalError, `the call was cancelled; ${effectWords(task)}`, {
    reason: 'cancelled',
    operationId: task.operationId,
  });

/** Where words for the log are enough and the caller must learn nothing (G2-115). */
export interface FailureSink {
  readonly logger: Logger;
  readonly random: Random;
}

const STORE_RETRY_MS = 5000;
const STORE_WORDS: Partial<Readonly<Record<ErrorCode, string>>> = {
  LONGCALL_STORE_FULL: 'the disk of the records is full',
  LONGCALL_STORE_FAILED: 'the records cannot be read or written now',
};

/** The store did not take it: worth another try, and never a promise that nothing happened where that is not known. */
function storeUnavailable(thrown: unknown, errorId: string): RpcError | undefined {
  if (!(thrown instanceof LongcallError)) return undefined;
  const words = STORE_WORDS[thrown.code];
  if (words === undefined) return undefined;
  const written = thrown.data['written'] === 'no' ? 'no' : 'unknown';
  const known = written === 'no' ? 'nothing was changed' : 'whether this was recorded is not known';
  return {
    code: FACE_CODES.unavailable,
    message: `${words}; ${known}`,
    data: { reason: 'store', written, retryAfterMs: STORE_RETRY_MS, errorId },
  };
}

/**
 * What a thrown value becomes on the wire. An RpcFailure passes as it is: it is meant for the caller. Everything else
 * stays in the log, found again by the id that the caller gets.
 */
export function errorOfThrown(sink: FailureSink, thrown: unknown): RpcError {
  if (thrown instanceof RpcFailure) {
    const { code, message, data } = thrown;
    return data === undefined ? { code, message } : { code, message, data: data as Json };
  }
  const errorId = Buffer.from(sink.random.bytes(9)).toString('base64url');
  sink.logger.error('face.request_failed', { errorId, problem: messageOf(thrown) });
  return (
    storeUnavailable(thrown, errorId) ?? {
      code: RPC_CODES.internalError,
      message: 'internal error',
      data: { errorId },
    }
  );
}
