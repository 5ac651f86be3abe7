import { formatDuration } from '../kernel/durations.ts';
import type { JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { safeText } from '../kernel/text.ts';
import type { Outcome } from '../protocol/model.ts';
import { RPC_CODES } from '../protocol/names.ts';

/** Longest error text of a handler that is kept: enough to tell what happened. */
const PROBLEM_CHARS = 500;

/** Why an outcome is ours and not the work's own: `data.reason` of the error, for programs. */
export const MADE_UP_REASONS = [
  'run_limit',
  'queue_limit',
  'ttl_expired',
  'outcome_unknown',
  'attempts_exhausted',
  'internal_error',
  'invalid_end',
  'result_too_large',
  'tool_gone',
] as const;
export type MadeUpReason = (typeof MADE_UP_REASONS)[number];

function madeUp(reason: MadeUpReason, message: string, facts: JsonObject = {}): Outcome {
  return {
    kind: 'error',
    error: { code: RPC_CODES.internalError, message, data: { reason, ...facts } },
  };
}

const operation = (operationId: string | undefined): JsonObject =>
  operationId === undefined ? {} : { operationId };
const CHECK_FIRST = 'It may have taken effect: do not repeat it before that was checked.';

export const CANCELLED: Outcome = { kind: 'cancelled' };

export const runLimitExceeded = (limitMs: number, operationId?: string): Outcome =>
  madeUp(
    'run_limit',
    `the call ran longer than its limit of ${formatDuration(limitMs)} and was stopped.${operationId === undefined ? '' : ` ${CHECK_FIRST}`}`,
    operation(operationId),
  );

export const queueLimitExceeded = (limitMs: number): Outcome =>
  madeUp(
    'queue_limit',
    `the call waited in the queue for longer than ${formatDuration(limitMs)}; nothing was sent`,
  );

/** The record's time was up while it was still open (T32). */
export const ttlExpired = (): Outcome => madeUp('ttl_expired', 'Task TTL elapsed');

/** The work died and nobody can say whether it took effect (decision 6). */
export const outcomeUnknown = (operationId?: string): Outcome =>
  madeUp(
    'outcome_unknown',
    `the call was interrupted and its outcome is not known. ${CHECK_FIRST}`,
    operation(operationId),
  );

export const attemptsExhausted = (attempts: number): Outcome =>
  madeUp(
    'attempts_exhausted',
    `the call was interrupted ${attempts} times and is not tried again`,
    { attempts },
  );

export const handlerFailed = (thrown: unknown, operationId?: string): Outcome =>
  madeUp(
    'internal_error',
    safeText(messageOf(thrown), PROBLEM_CHARS) || 'internal error',
    operation(operationId),
  );

export const invalidEnd = (operationId?: string): Outcome =>
  madeUp('invalid_end', 'the tool ended without a valid outcome', operation(operationId));

export const resultTooLarge = (bytes: number, maxBytes: number): Outcome =>
  madeUp(
    'result_too_large',
    `the result has ${bytes} bytes, more than the ${maxBytes} that can be kept`,
    {
      bytes,
      maxBytes,
    },
  );

export const toolGone = (tool: string, operationId?: string): Outcome =>
  madeUp(
    'tool_gone',
    `the tool ${safeText(tool, 128)} is not served any more`,
    operation(operationId),
  );
