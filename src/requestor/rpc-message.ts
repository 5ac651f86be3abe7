import { isJsonObject, nestsDeeperThan, type Json, type JsonObject } from '../kernel/json.ts';
import type { RpcError } from '../protocol/model.ts';

/** The id of a JSON-RPC request. */
export type RpcId = string | number;

/**
 * A JSON-RPC message as it came, sorted and nothing else: unknown members, unknown content and foreign codes are
 * kept. `invalid` is what no reading makes sense of; its id is there when the message names one.
 */
export type RawMessage =
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly id: RpcId | undefined; readonly error: RpcError }
  | {
      readonly kind: 'request';
      readonly id: RpcId;
      readonly method: string;
      readonly params: JsonObject;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'invalid'; readonly id: RpcId | undefined; readonly problem: string };

export const isRpcId = (value: unknown): value is RpcId =>
  typeof value === 'string' || Number.isInteger(value);

/** What nests deeper could be read, but never written again: it would overflow the stack of whoever passes it on. */
const DEPTH_MAX = 256;

/** Sorts one message. Never throws. */
export function readMessage(value: unknown): RawMessage {
  if (!isJsonObject(value))
    return { kind: 'invalid', id: undefined, problem: 'the message is not an object' };
  const id = isRpcId(value['id']) ? value['id'] : undefined;
  if (nestsDeeperThan(DEPTH_MAX, value)) return tooDeep(value, id);
  if (typeof value['method'] === 'string') return readCall(value['method'], id, value['params']);
  if (value['error'] !== undefined) return readError(id, value['error']);
  if (id !== undefined && isJsonObject(value['result']))
    return { kind: 'result', id, result: value['result'] };
  return { kind: 'invalid', id, problem: 'the answer has no result object' };
}

function tooDeep({ method }: JsonObject, id: RpcId | undefined): RawMessage {
  const problem = `it nests deeper than ${DEPTH_MAX} levels`;
  return { kind: 'invalid', id: method === undefined ? id : undefined, problem }; // the id of a call is the peer's own
}

function readCall(method: string, id: RpcId | undefined, given: Json | undefined): RawMessage {
  const params = isJsonObject(given) ? given : {};
  return id === undefined
    ? { kind: 'notification', method, params }
    : { kind: 'request', id, method, params };
}

function readError(id: RpcId | undefined, error: Json | undefined): RawMessage {
  if (!isJsonObject(error) || typeof error['code'] !== 'number')
    return { kind: 'invalid', id, problem: 'the error has no code' };
  const { code, message, data } = error;
  const text = typeof message === 'string' ? message : '';
  return {
    kind: 'error',
    id,
    error: data === undefined ? { code, message: text } : { code, message: text, data },
  };
}
