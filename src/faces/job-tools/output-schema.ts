import { isJsonObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { HANDLE_SCHEMA } from './job-facts.ts';

/** Where a tool's own schema stands in the union. */
const PLACE = '#/anyOf/0';

/** Keywords whose values are schemas by name. */
const NAMED: readonly string[] = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
];
/** Keywords whose values are data, in which nothing is a keyword. */
const DATA: readonly string[] = ['const', 'enum', 'default', 'examples', 'required', 'type'];
/** Keywords that name places: moved into another schema they would mean something else. */
const ANCHORS: readonly string[] = [
  '$id',
  'id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
];

/** Thrown where a schema cannot be moved; never leaves this file. */
class CannotMove extends Error {}

function movedRef(ref: Json | undefined): string {
  if (typeof ref !== 'string' || !(ref === '#' || ref.startsWith('#/'))) throw new CannotMove();
  return PLACE + ref.slice(1);
}

const movedAll = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, moved(schema)]));

function movedKeyword(keyword: string, value: Json | undefined): Json | undefined {
  if (ANCHORS.includes(keyword)) throw new CannotMove();
  if (keyword === '$ref') return movedRef(value);
  if (DATA.includes(keyword)) return value;
  if (NAMED.includes(keyword) && isJsonObject(value)) return movedAll(value);
  return moved(value);
}

function moved(schema: Json | undefined): Json | undefined {
  if (Array.isArray(schema)) return schema.map((each: Json) => moved(each) ?? null);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, movedKeyword(keyword, value)]),
  );
}

/**
 * The output schema of a tool whose call may be answered with a handle: its own, or the handle's. Hosts check every
 * `structuredContent` against what was listed, so the handle has to fit too. Nothing where the tool's own schema names
 * places in itself that a move would break: then none is listed to callers without Tasks, which promises nothing.
 */
export function withHandle(outputSchema: JsonObject): JsonObject | undefined {
  const { $schema, ...own } = outputSchema;
  try {
    const union = { type: 'object', anyOf: [moved(own) ?? {}, HANDLE_SCHEMA] };
    return $schema === undefined ? union : { $schema, ...union };
  } catch (error) {
    if (error instanceof CannotMove) return undefined;
    throw error;
  }
}
