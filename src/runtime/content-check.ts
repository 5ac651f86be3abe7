import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { isJsonObject, type Json, type JsonObject } from '../kernel/json.ts';
import { formBoundsProblem, isChoiceSchema } from '../protocol/form-schema.ts';
import { misfitWords } from './misfit-words.ts';

/**
 * What is wrong with the content of an answer, by the schema that was asked with; nothing where it fits. Names the field
 * and what it takes, and never repeats what was sent.
 */
export type ContentCheck = (schema: JsonObject, content: JsonObject) => string | undefined;

/** Keywords of the flat schemas that a form may have (2025-11-25 and 2026-07-28, `requestedSchema`). */
const FIELD_KEYWORDS = [
  'type',
  'enum',
  'const',
  'minLength',
  'maxLength',
  'format',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
] as const;
const NESTED_KEYWORDS = ['oneOf', 'anyOf'] as const;

/** Longest content that is checked, in bytes of its JSON; with the bounds of the form this bounds the time (G2-144). */
const CONTENT_BYTES_MAX = 64 * 1024;

/** A validator keeps what it has compiled; it is replaced before that grows. */
const SCHEMAS_PER_VALIDATOR = 100;

/**
 * A field's schema reduced to what forms may use. The schema is an upstream's text: references, patterns and ids would
 * let it fetch, loop or confuse one schema with another (G2-144).
 */
function reducedField(field: Json | undefined): JsonObject {
  if (!isJsonObject(field)) return {};
  const kept: Record<string, Json | undefined> = {};
  for (const keyword of FIELD_KEYWORDS) if (keyword in field) kept[keyword] = field[keyword];
  for (const keyword of NESTED_KEYWORDS) {
    const options: Json | undefined = field[keyword];
    if (!Array.isArray(options)) continue;
    // Titled choices are a list of values; checked one schema after another they would take their time.
    if (options.every(isChoiceSchema))
      kept['enum'] ??= options.map((option) => option['const'] ?? null);
    else kept[keyword] = options.map(reducedField);
  }
  if (isJsonObject(field['items'])) kept['items'] = reducedField(field['items']);
  return kept;
}

function reducedForm(schema: JsonObject): JsonObject {
  const fields = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, reducedField(field)])),
    ...(Array.isArray(schema['required']) ? { required: schema['required'] } : {}),
  };
}

const sizeProblem = (content: JsonObject): string | undefined =>
  Buffer.byteLength(JSON.stringify(content)) > CONTENT_BYTES_MAX
    ? `content is larger than ${CONTENT_BYTES_MAX} bytes`
    : undefined;

/** The validator asks for members by name: what every object inherits, such as `constructor`, is no answer. */
const ownMembers = (content: JsonObject): JsonObject =>
  Object.assign(Object.create(null) as Record<string, Json | undefined>, content);

/** Checks with the SDK's JSON Schema validator. A schema that is none itself checks nothing: nobody could fit it. */
export function createContentCheck(): ContentCheck {
  let validator = new AjvJsonSchemaValidator();
  let compiled = 0;
  return (schema, content) => {
    const tooLarge = formBoundsProblem(schema) ?? sizeProblem(content);
    if (tooLarge !== undefined) return tooLarge;
    compiled += 1;
    if (compiled > SCHEMAS_PER_VALIDATOR) {
      validator = new AjvJsonSchemaValidator();
      compiled = 1;
    }
    const reduced = reducedForm(schema);
    try {
      const checked = validator.getValidator(reduced)(ownMembers(content));
      return checked.valid ? undefined : misfitWords(reduced, checked.errorMessage);
    } catch {
      return undefined;
    }
  };
}
