import { isJsonObject, type JsonObject } from '../kernel/json.ts';

/** The result with these members merged into its `_meta`. */
export function withMeta(result: JsonObject, members: JsonObject): JsonObject {
  const meta = result['_meta'];
  return { ...result, _meta: { ...(isJsonObject(meta) ? meta : {}), ...members } };
}

/** The result without these `_meta` members, and without an empty `_meta`. */
export function withoutMeta(result: JsonObject, members: readonly string[]): JsonObject {
  const { _meta: meta, ...rest } = result;
  if (!isJsonObject(meta)) return result;
  const kept = Object.entries(meta).filter(([name]) => !members.includes(name));
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) };
}
