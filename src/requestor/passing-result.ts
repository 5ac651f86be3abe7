import { objectAt, type JsonObject } from '../kernel/json.ts';
import { passingMeta } from './envelope.ts';

/**
 * A result as it passes on: what its hop alone was told is taken off (reserved `_meta`, `resultType: "complete"`), all
 * else is kept as produced. A foreign `resultType` is kept: whoever declared its extension understands it.
 */
export function passingResult(result: JsonObject): JsonObject {
  const { resultType, _meta: _hop, ...rest } = result;
  const meta = objectAt(result, '_meta');
  const passing = passingMeta(meta ?? {});
  const keepsMeta =
    meta !== undefined && (Object.keys(passing).length > 0 || Object.keys(meta).length === 0);
  return {
    ...rest,
    ...(resultType === undefined || resultType === 'complete' ? {} : { resultType }),
    ...(keepsMeta ? { _meta: passing } : {}),
  };
}

/** Size of a JSON value in bytes, cheaply where the text it came in is already short enough. */
export function isWithin(result: JsonObject, textBytes: number, maxBytes: number): boolean {
  return textBytes <= maxBytes ? true : Buffer.byteLength(JSON.stringify(result)) <= maxBytes;
}
