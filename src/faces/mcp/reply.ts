import type { JsonObject } from '../../kernel/json.ts';
import type { ResultReply } from '../../protocol/codec.ts';
import type { RpcError } from '../../protocol/model.ts';
import type { RpcId } from './message.ts';

/** Whether an answer was handed to a caller that was still there. */
export type Delivery = 'written' | 'gone';

/** The answer of one request. */
export interface Reply {
  readonly body: ResultReply;
  /** Told once what became of the answer. */
  readonly onDelivery?: (delivery: Delivery) => void;
}

export const resultReply = (result: JsonObject): Reply => ({ body: { kind: 'result', result } });
export const errorReply = (error: RpcError): Reply => ({ body: { kind: 'error', error } });

const errorMembers = ({ code, message, data }: RpcError): JsonObject =>
  data === undefined ? { code, message } : { code, message, data };

/** The JSON-RPC response that carries the answer; `null` where no id could be read. */
export function responseOf(id: RpcId | null, body: ResultReply): JsonObject {
  if (body.kind === 'result') return { jsonrpc: '2.0', id, result: body.result };
  return { jsonrpc: '2.0', id, error: errorMembers(body.error) };
}
