import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { LongcallError } from '../kernel/errors.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { messageOf } from '../kernel/logger.ts';

/** Codes that have an HTTP status of their own; every other one of the catalogue answers 500. */
const HTTP_STATUS: Partial<Readonly<Record<ErrorCode, ContentfulStatusCode>>> = {
  LONGCALL_USAGE: 400,
  LONGCALL_ADMIN_DENIED: 401,
  LONGCALL_TASK_UNKNOWN: 404,
  LONGCALL_OPERATION_UNKNOWN: 404,
  LONGCALL_TASK_RUNNING: 409,
  LONGCALL_CAPACITY: 429,
  LONGCALL_STORE_FAILED: 503,
  LONGCALL_STORE_FULL: 503,
  LONGCALL_STORE_CLOSED: 503,
};

/** What an unsuccessful answer carries: decide on `code`, show `message` and `hint`. */
export interface ErrorDocument {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly hint: string | null;
    readonly retryable: boolean;
  };
}

export const errorDocument = (error: LongcallError): ErrorDocument => ({
  error: {
    code: error.code,
    message: error.message,
    hint: error.hint ?? null,
    retryable: error.retryable,
  },
});

/** Answers an error; `status` where the code's own does not fit. */
export function refuse(
  context: Context,
  error: LongcallError,
  status: ContentfulStatusCode = HTTP_STATUS[error.code] ?? 500,
): Response {
  return context.json(errorDocument(error), status);
}

/** Answers whatever a route threw. What is no `LongcallError` is ours to look at: its text stays in the log. */
export function refuseThrown(context: Context, thrown: unknown, logger: Logger): Response {
  if (thrown instanceof LongcallError) return refuse(context, thrown);
  logger.error('admin.request_failed', {
    method: context.req.method,
    error: messageOf(thrown),
  });
  return refuse(
    context,
    new LongcallError('LONGCALL_INTERNAL', 'the admin API failed on an error of its own', {
      hint: 'look for admin.request_failed in the log',
    }),
  );
}

export const usage = (message: string, hint?: string): LongcallError =>
  new LongcallError('LONGCALL_USAGE', message, hint === undefined ? {} : { hint });

export const taskUnknown = (): LongcallError =>
  new LongcallError('LONGCALL_TASK_UNKNOWN', 'there is no task with this id', {
    hint: 'its record may have expired; its operation is kept: `longcall ops list`',
  });

export const operationUnknown = (): LongcallError =>
  new LongcallError('LONGCALL_OPERATION_UNKNOWN', 'there is no operation with this id', {
    hint: '`longcall ops list` shows what the ledger has',
  });
