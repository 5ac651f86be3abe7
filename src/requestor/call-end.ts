import type { JsonObject } from '../kernel/json.ts';
import type { PeerAnswer } from './connection.ts';
import { isWithin, passingResult } from './passing-result.ts';
import type { ToolCall, ToolCallEnd } from './tool-call.ts';

/** The end that an answer without a result stands for. */
export function endOf(answer: Exclude<PeerAnswer, { readonly kind: 'result' }>): ToolCallEnd {
  if (answer.kind === 'aborted') return { kind: 'stopped' };
  if (answer.kind === 'timeout') return { kind: 'lost', problem: 'it did not answer in time' };
  return answer;
}

/** The end for a result, as produced, unless it is larger than can be kept. */
export function resultEnd(
  result: JsonObject,
  textBytes: number,
  { resultBytesMax }: ToolCall,
): ToolCallEnd {
  if (isWithin(result, textBytes, resultBytesMax))
    return { kind: 'result', result: passingResult(result) };
  return { kind: 'too_large', problem: `its answer is larger than ${resultBytesMax} bytes` };
}
