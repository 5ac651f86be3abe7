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
  'artifact_unreadable',
  'tool_gone',
  'not_authorized',
  'request_unreadable',
  'journal_mismatch',
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

export const attemptsExhausted = (attempts: number, operationId?: string): Outcome =>
  madeUp(
    'attempts_exhausted',
    `the call was interrupted ${attempts} times and is not tried again.${operationId === undefined ? '' : ` ${CHECK_FIRST}`}`,
    { attempts, ...operation(operationId) },
  );

export const handlerFailed = (thrown: unknown, operationId?: string): Outcome =>
  madeUp(
    'internal_error',
    safeText(messageOf(thrown), PROBLEM_CHARS) || 'internal error',
    operation(operationId),
  );

export const invalidEnd = (operationId?: string): Outcome =>
  madeUp('invalid_end', 'the tool ended without a valid outcome', operation(operationId));

/** A handler that returned something that is no result (P4). `what` is in our words. */
export const handlerReturned = (what: string): Outcome =>
  madeUp('invalid_end', `the tool's handler returned ${what}: it has to return a result`);

/** An effect that a death, or a leaving process, has cut off: nobody can say whether it took effect (decision 6). */
export const effectUnknown = (effect: { name: string; operationId: string }): Outcome =>
  madeUp(
    'outcome_unknown',
    `the call was interrupted while its effect ${JSON.stringify(effect.name)} was under way, and nobody knows whether it happened. ${CHECK_FIRST}`,
    { operationId: effect.operationId, effect: effect.name },
  );

/** What a handler asked for before, and what it asks for now; absent: nothing. Each like `step "fetch"`. */
export interface ChangedHandler {
  readonly position: number;
  readonly expected: string | undefined;
  readonly found: string | undefined;
}

/** The handler of this call is not the one any more that began it: nothing is guessed, and nothing was done after. */
export const journalMismatch = ({ position, expected, found }: ChangedHandler): Outcome =>
  madeUp(
    'journal_mismatch',
    `the tool's handler has changed since this call began: it asked for ${expected ?? 'nothing more'} before, and now for ${found ?? 'nothing'}. The call was stopped there, and nothing was done after it.`,
    { code: 'LONGCALL_JOURNAL_MISMATCH', position, expected, found },
  );

export interface LargeResult {
  readonly bytes: number;
  readonly maxBytes: number;
  /** Present where the call may have taken effect. */
  readonly operationId?: string | undefined;
  /** The limit that kept it from becoming an artifact, where that was wanted. */
  readonly full?: string | undefined;
}

/** The tool has answered, so it has run: only its answer is not there. */
export function resultTooLarge({ bytes, maxBytes, operationId, full }: LargeResult): Outcome {
  const room = full === undefined ? '' : `, and there was no room for an artifact (${full})`;
  const effect = operationId === undefined ? '' : ` ${CHECK_FIRST}`;
  return madeUp(
    'result_too_large',
    `the tool has answered, but its result has ${bytes} bytes, more than the ${maxBytes} that can be kept${room}; it was dropped.${effect}`,
    {
      bytes,
      maxBytes,
      ...(full === undefined ? {} : { artifactLimit: full }),
      ...operation(operationId),
    },
  );
}

/** An argument names an artifact that the owner of the call cannot have. */
export const artifactUnreadable = (argument: string, problem: string): Outcome =>
  madeUp(
    'artifact_unreadable',
    `argument ${safeText(argument, 128)}: ${problem}; nothing was sent`,
    { argument: safeText(argument, 128) },
  );

/** The record's request cannot be read back, so there is nothing to run. */
export const requestUnreadable = (): Outcome =>
  madeUp(
    'request_unreadable',
    'what was stored of the call cannot be read; nothing was sent. Check the store with longcall doctor',
  );

/** The owner's grant was taken back while the call was asleep or its process dead: it does not go on in their name. */
export const notAuthorized = (tool: string): Outcome =>
  madeUp(
    'not_authorized',
    `the owner of this call may not use ${safeText(tool, 128)} any more, so it was not continued`,
  );

export const toolGone = (tool: string, operationId?: string): Outcome =>
  madeUp(
    'tool_gone',
    `the tool ${safeText(tool, 128)} is not served any more`,
    operation(operationId),
  );
