import { LongcallError } from '../kernel/errors.ts';
import { messageOf } from '../kernel/logger.ts';
import { RPC_CODES } from '../protocol/names.ts';
import { plainUpstreamName } from '../protocol/upstream-name.ts';
import type { PeerAnswer } from '../requestor/connection.ts';
import { problemOf } from '../requestor/pages.ts';
import { RpcFailure } from '../runtime/surface.ts';

/** Why a request that was passed on got no answer from its upstream: `data.reason`, for programs. */
const REASONS: Readonly<Record<Exclude<PeerAnswer['kind'], 'result' | 'error'>, string>> = {
  unsent: 'upstream_unreachable',
  lost: 'upstream_lost',
  session_gone: 'upstream_session_gone',
  http: 'upstream_http_error',
  invalid: 'upstream_invalid',
  too_large: 'result_too_large',
  timeout: 'upstream_timeout',
  aborted: 'cancelled',
};

/** The failure that an answer without a result stands for; the upstream's own errors pass unchanged. */
export function failureOf(
  answer: Exclude<PeerAnswer, { readonly kind: 'result' }>,
  upstream: string,
): RpcFailure {
  if (answer.kind === 'error')
    return new RpcFailure(answer.error.code, answer.error.message, answer.error.data);
  const name = plainUpstreamName(upstream);
  const data = { reason: REASONS[answer.kind], upstream: name };
  return new RpcFailure(RPC_CODES.internalError, `upstream "${name}": ${problemOf(answer)}`, data);
}

/** A failure of ours on the way to the upstream. */
export function asFailure(error: unknown, upstream: string): RpcFailure {
  if (error instanceof RpcFailure) return error;
  const reason = error instanceof LongcallError && error.code === 'LONGCALL_UPSTREAM_UNREACHABLE';
  const data = {
    reason: reason ? 'upstream_unreachable' : 'cancelled',
    upstream: plainUpstreamName(upstream),
  };
  return new RpcFailure(RPC_CODES.internalError, messageOf(error), data);
}

export const methodNotFound = (): RpcFailure =>
  new RpcFailure(RPC_CODES.methodNotFound, 'Method not found');

export const invalidParams = (message: string): RpcFailure =>
  new RpcFailure(RPC_CODES.invalidParams, message);
