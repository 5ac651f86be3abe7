import { isJsonObject, type Json } from '../kernel/json.ts';
import { CALL_ENDS, type CallEnd } from '../ledger/operation.ts';
import type { Outcome } from '../protocol/model.ts';
import type { RunEnd, StopReason } from './job.ts';
import { CANCELLED, handlerFailed, invalidEnd, runLimitExceeded } from './outcomes.ts';
import { RpcFailure } from './surface.ts';

/** How a handler came to its end, or that it did not in the time that it had. */
export type HandlerEnd =
  | { readonly kind: 'returned'; readonly end: RunEnd }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'threw'; readonly thrown: unknown }
  | { readonly kind: 'hung' };

/** What becomes of the task. `leave`: it is not ours to settle; a real answer is still evidence for the ledger. */
export type Conclusion =
  | {
      readonly kind: 'settle';
      readonly outcome: Outcome;
      readonly callEnd: CallEnd;
      readonly reason: string;
    }
  | { readonly kind: 'leave'; readonly evidence?: RunEnd };

export interface Concluded {
  readonly handler: HandlerEnd;
  /** Why the run was told to stop, if it was. */
  readonly stop?: StopReason;
  readonly runLimitMs: number;
  /** Present where the call was sent and is no read: what the caller must check before a repeat. */
  readonly sentOperationId?: string;
}

function isOutcome(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { kind, result, error } = value;
  if (kind === 'result') return isJsonObject(result);
  if (kind === 'cancelled') return true;
  return (
    kind === 'error' &&
    isJsonObject(error) &&
    Number.isInteger(error['code']) &&
    typeof error['message'] === 'string'
  );
}

/** Handlers are somebody else's code: what they return is looked at before it is believed (P4). */
export function handlerEndOf(returned: unknown): HandlerEnd {
  const valid =
    isJsonObject(returned) &&
    isOutcome(returned['outcome']) &&
    CALL_ENDS.some((end) => end === returned['end']) &&
    typeof returned['reason'] === 'string';
  return valid ? { kind: 'returned', end: returned as unknown as RunEnd } : { kind: 'invalid' };
}

const settle = (outcome: Outcome, callEnd: CallEnd, reason: string): Conclusion => ({
  kind: 'settle',
  outcome,
  callEnd,
  reason,
});
const asReturned = ({ outcome, end, reason }: RunEnd): Conclusion => settle(outcome, end, reason);

/** Whether the other side itself said this; the rest is made up on this side. */
const isRealAnswer = ({ end }: RunEnd): boolean =>
  end === 'answered' || end === 'tool_error' || end === 'error';

/** Nobody told it to stop: the end is the handler's own. */
function concludeFree({ handler, sentOperationId }: Concluded): Conclusion {
  switch (handler.kind) {
    case 'returned':
      return asReturned(handler.end);
    case 'threw':
      if (handler.thrown instanceof RpcFailure)
        return settle(rpcError(handler.thrown), 'error', 'error');
      return settle(handlerFailed(handler.thrown, sentOperationId), 'lost', 'internal_error');
    case 'invalid':
    case 'hung':
      return settle(invalidEnd(sentOperationId), 'lost', 'invalid_end');
  }
}

function rpcError({ code, message, data }: RpcFailure): Outcome {
  return {
    kind: 'error',
    error: data === undefined ? { code, message } : { code, message, data: data as Json },
  };
}

/**
 * What a run's end means, given why it was stopped. A real answer that came within the grace is the truth and is kept;
 * a fenced-out or departing process settles nothing that it does not know (decisions 6 and 15).
 */
export function conclude(concluded: Concluded): Conclusion {
  const { handler, stop, runLimitMs, sentOperationId } = concluded;
  const returned = handler.kind === 'returned' ? handler.end : undefined;
  if (stop === undefined) return concludeFree(concluded);
  switch (stop) {
    case 'cancelled':
    case 'abandoned':
      return returned ? asReturned(returned) : settle(CANCELLED, 'cancelled', stop);
    case 'run_limit':
      if (returned?.end === 'answered') return asReturned(returned);
      return settle(runLimitExceeded(runLimitMs, sentOperationId), 'run_limit', stop);
    case 'lease_lost':
      return returned && isRealAnswer(returned)
        ? { kind: 'leave', evidence: returned }
        : { kind: 'leave' };
    case 'shutdown':
      return returned && isRealAnswer(returned) ? asReturned(returned) : { kind: 'leave' };
  }
}
