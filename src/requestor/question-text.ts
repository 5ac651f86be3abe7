import { stripControls } from '../kernel/invisible.ts';
import { isJsonObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { InputMethod } from '../protocol/model.ts';

/** Members of a form that a person reads. What is compared or sent back stays as it came. */
const READ: readonly string[] = ['message', 'title', 'description'];

function readable(value: Json): Json {
  if (Array.isArray(value)) return value.map(readable);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' && READ.includes(name)
        ? stripControls(member)
        : readable(member ?? null),
    ]),
  );
}

/**
 * A peer's question as a person may be shown it: no escape sequences, no bidi and zero-width tricks in its words.
 * What a model is to sample is no text of a dialog, and is passed on as it came.
 */
export function readableQuestion(method: InputMethod, params: JsonObject): JsonObject {
  if (method !== 'elicitation/create') return params;
  const { _meta: meta, ...rest } = params;
  const clean = readable(rest) as JsonObject;
  return meta === undefined ? clean : { ...clean, _meta: meta };
}
