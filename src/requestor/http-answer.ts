import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject } from '../kernel/json.ts';
import { safeText } from '../kernel/text.ts';
import { readBody } from './http-exchange.ts';
import { isRpcId, readMessage, type RpcId } from './rpc-message.ts';
import type { SendFailure } from './wire.ts';

/** How much of an answer that is no message is read, to say what it was. */
const REFUSAL_BYTES_MAX = 65_536;

/** The media type without its parameters. */
export const mediaType = (response: IncomingMessage): string =>
  (response.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

export const isSuccess = (response: IncomingMessage): boolean =>
  response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 300;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the message answers the request with that id, well or badly. */
export function answersRequest(value: unknown, id: RpcId): boolean {
  const message = readMessage(value);
  return message.kind !== 'request' && message.kind !== 'notification' && message.id === id;
}

export interface Refusal {
  readonly failure: SendFailure;
  /** The JSON-RPC error in the body, if there is one; without an id it is still about this request. */
  readonly error?: JsonObject;
}

/** Reads an answer whose status is no success. */
export async function readRefusal(
  response: IncomingMessage,
  hadSession: boolean,
): Promise<Refusal> {
  const status = response.statusCode ?? 0;
  const body = (await readBody(response, REFUSAL_BYTES_MAX))?.toString('utf8') ?? '';
  const value = parseJson(body);
  const error = isJsonObject(value) && isJsonObject(value['error']) ? value : undefined;
  if (hadSession && saysSessionGone(status, error))
    return { failure: { kind: 'session_gone', problem: 'it does not know our session any more' } };
  const said = error === undefined ? safeText(body) : '';
  const problem = `it answered HTTP ${status}${said === '' ? '' : `: ${said}`}`;
  const retryAfterMs = retryAfterOf(response);
  const failure: SendFailure = {
    kind: 'http',
    status,
    problem,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return error === undefined ? { failure } : { failure, error };
}

/** Servers that have lost a session answer 404, some of them 400; neither names the request. */
function saysSessionGone(status: number, error: JsonObject | undefined): boolean {
  return (status === 404 || status === 400) && !isRpcId(error?.['id']);
}

/** `Retry-After` in seconds, as ms. Dates are not read: the peer's clock is not ours. */
function retryAfterOf(response: IncomingMessage): number | undefined {
  const seconds = Number(response.headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1000) : undefined;
}
