import { RPC_CODES } from '../../protocol/names.ts';
import { conflictWords, knownWords } from '../../runtime/idempotency/repeat-words.ts';
import type { Started } from '../../runtime/receiver.ts';
import { RpcFailure } from '../../runtime/surface.ts';
import { FACE_CODES } from './error-codes.ts';

/** The key cannot be one. Nothing was started, so that a corrected call may follow. */
export const badKey = (problem: string): RpcFailure =>
  new RpcFailure(RPC_CODES.invalidParams, `invalid params: ${problem}; nothing was started`, {
    reason: 'idempotency_key',
    code: 'LONGCALL_IDEMPOTENCY_KEY_INVALID',
  });

/** An argument that would not arrive as it was sent. */
export const badArguments = (problem: string): RpcFailure =>
  new RpcFailure(RPC_CODES.invalidParams, `invalid params: ${problem}; nothing was started`, {
    reason: 'arguments_inexact',
  });

/** Same key, other arguments (D2): nothing runs. */
export const keyConflict = (operationId: string | undefined): RpcFailure =>
  new RpcFailure(FACE_CODES.conflict, conflictWords(operationId), {
    reason: 'idempotency_conflict',
    code: 'LONGCALL_IDEMPOTENCY_CONFLICT',
    operationId,
  });

/** The call was made before and its record is gone (D4, D5): the operation, and what is known of it. */
export const alreadyCalled = ({
  operation,
  by,
}: Extract<Started, { readonly kind: 'known' }>): RpcFailure =>
  new RpcFailure(FACE_CODES.conflict, knownWords(operation, by), {
    reason: 'already_called',
    code: 'LONGCALL_ALREADY_CALLED',
    deduplicated: true,
    operationId: operation.id,
    outcome: operation.state,
  });
