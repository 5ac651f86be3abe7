import { objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import { PROTOCOL_VERSION_META } from './envelope.ts';

const ENCODED = /^=\?base64\?.*\?=$/s;
const PLAIN = /^[\t\u0020-\u007e]+$/;

/** A value as a header can carry it; what is not plain ASCII goes as Base64 of UTF-8 (G2-151). */
export function encodeHeaderValue(value: string): string {
  const plain = PLAIN.test(value) && value === value.trim() && !ENCODED.test(value);
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The member of `params` that `Mcp-Name` mirrors (G2-149, G2-150). */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The headers that mirror the body of a request of 2026-07-28 (G2-146, G2-148); earlier ones have none. */
export function mirroredHeaders(message: JsonObject): Record<string, string> {
  const params = objectAt(message, 'params');
  const version = stringAt(objectAt(params, '_meta'), PROTOCOL_VERSION_META);
  const method = stringAt(message, 'method');
  if (version === undefined || method === undefined) return {};
  const member = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const name = member === undefined ? undefined : stringAt(params, member);
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': encodeHeaderValue(name) }),
  };
}

/** Header names in lower case, so that one cannot be set twice. */
export const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
