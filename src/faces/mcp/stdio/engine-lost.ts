import { RPC_CODES } from '../../../protocol/names.ts';

/** A request whose engine has gone; the id as JSON, as it was written. */
export interface LostRequest {
  readonly id: string;
  readonly method: string;
}

/** Whose effect cannot be told from the outside: everything else may be asked again. */
const MAY_ACT: readonly string[] = ['tools/call'];

/**
 * The last line that a request gets from a front whose engine has died, with its end: nobody else can answer it, and
 * without an answer its caller would wait for ever (L2). `data.reason` is `engine_lost`.
 */
export function engineLostLine({ id, method }: LostRequest): string {
  const known = MAY_ACT.includes(method)
    ? 'whether the call took effect is not known: do not repeat it blindly; start this server again, then look for its task (tasks/list, longcall tasks list) or repeat it under its idempotency key'
    : 'nothing is lost by asking again, once this server has been started again';
  const error = {
    code: RPC_CODES.internalError,
    message: `the background engine of this server ended while the request was under way; ${known}`,
    data: { reason: 'engine_lost', mayHaveHappened: MAY_ACT.includes(method) },
  };
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}\n`;
}
