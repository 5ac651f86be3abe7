import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { isJsonObject, type Json, type JsonObject } from '../kernel/json.ts';

/** What is wrong with the content of an answer, by the schema that was asked with; nothing where it fits. */
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
    const options = field[keyword];
    if (Array.isArray(options)) kept[keyword] = options.map(reducedField);
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

/** Checks with the SDK's JSON Schema validator. A schema that is none itself checks nothing: nobody could fit it. */
export function createContentCheck(): ContentCheck {
  let validator = new AjvJsonSchemaValidator();
  let compiled = 0;
  return (schema, content) => {
    compiled += 1;
    if (compiled > SCHEMAS_PER_VALIDATOR) {
      validator = new AjvJsonSchemaValidator();
      compiled = 1;
    }
    try {
      const checked = validator.getValidator(reducedForm(schema))(content);
      return checked.valid ? undefined : checked.errorMessage.replace(/^data/, 'content');
    } catch {
      return undefined;
    }
  };
}
