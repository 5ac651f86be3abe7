import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { InputAnswer, RpcError } from '../../protocol/model.ts';

export type RpcId = string | number;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RpcId;
  readonly method: string;
  /** With its `_meta`; an empty object where the message has none. */
  readonly params: JsonObject;
}

export interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject;
}

/** An answer to a request of ours (2025-11-25 and older only). */
export interface RpcResponse {
  readonly kind: 'response';
  readonly id: RpcId;
  readonly answer: InputAnswer;
}

/** No JSON-RPC message of MCP: answered with -32600 under the id that could be read, else `null`. */
export interface InvalidMessage {
  readonly kind: 'invalid';
  readonly id: RpcId | null;
  readonly problem: string;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse | InvalidMessage;

const isId = (value: unknown): value is RpcId =>
  typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value));

/** The id under which a request that cannot be taken is refused: without it its sender would wait for ever. */
export function requestIdOf(value: unknown): RpcId | null {
  if (!isJsonObject(value) || typeof value['method'] !== 'string') return null;
  const { id } = value;
  return isId(id) ? id : null;
}

function readError(value: unknown): RpcError | undefined {
  if (!isJsonObject(value)) return undefined;
  const { code, message, data } = value;
  if (typeof code !== 'number' || typeof message !== 'string') return undefined;
  return data === undefined ? { code, message } : { code, message, data };
}

function readResponse(id: RpcId, { result, error }: JsonObject): RpcResponse | InvalidMessage {
  const failure = readError(error);
  if (isJsonObject(result) && error === undefined)
    return { kind: 'response', id, answer: { kind: 'result', result } };
  if (failure !== undefined && result === undefined)
    return { kind: 'response', id, answer: { kind: 'error', error: failure } };
  return { kind: 'invalid', id: null, problem: 'a response has either a result or an error' };
}

function readCall(message: JsonObject, method: string): RpcMessage {
  const { id, params = {} } = message;
  const readable = isId(id) ? id : null;
  if ('id' in message && readable === null)
    return { kind: 'invalid', id: null, problem: 'id must be a string or an integer' };
  if (!isJsonObject(params))
    return { kind: 'invalid', id: readable, problem: 'params must be an object' };
  return readable === null
    ? { kind: 'notification', method, params }
    : { kind: 'request', id: readable, method, params };
}

/** Reads one JSON-RPC message. */
export function readMessage(value: unknown): RpcMessage {
  if (!isJsonObject(value)) return { kind: 'invalid', id: null, problem: 'not an object' };
  const { id, method } = value;
  if (value['jsonrpc'] !== '2.0')
    return { kind: 'invalid', id: isId(id) ? id : null, problem: 'jsonrpc must be "2.0"' };
  if (typeof method === 'string') return readCall(value, method);
  if (method === undefined && isId(id)) return readResponse(id, value);
  return { kind: 'invalid', id: isId(id) ? id : null, problem: 'method must be a string' };
}

export const notification = (method: string, params: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  method,
  params,
});
