import { isJsonObject, type Json, type JsonObject } from '../kernel/json.ts';
import { fieldsOf } from './field-class.ts';

/** What the schema of one form may take up: it is checked against on every answer (G2-144). */
export const FORM_BOUNDS = { fields: 100, schemas: 200, choices: 2000, depth: 5 } as const;

/** Keywords under which a form's schema may hold further schemas. */
const NESTED_LISTS = ['oneOf', 'anyOf'] as const;
const FIELD_TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'array'];

interface Tally {
  schemas: number;
  choices: number;
}

const listAt = (schema: JsonObject, keyword: string): readonly Json[] => {
  const list = schema[keyword];
  return Array.isArray(list) ? list : [];
};

/** One of the titled choices of a field: `{ const, title }`. */
export const isChoiceSchema = (schema: Json): schema is JsonObject =>
  isJsonObject(schema) && schema['const'] !== undefined;

/** Counts a field's schemas and choices; false as soon as one of the bounds is passed, so that counting is bounded too. */
function fits(schema: Json | undefined, depth: number, tally: Tally): boolean {
  if (!isJsonObject(schema)) return true;
  const nested = NESTED_LISTS.flatMap((keyword) => listAt(schema, keyword));
  const choices = nested.filter(isChoiceSchema);
  tally.schemas += 1;
  tally.choices += listAt(schema, 'enum').length + choices.length;
  if (depth > FORM_BOUNDS.depth || tally.schemas > FORM_BOUNDS.schemas) return false;
  if (tally.choices > FORM_BOUNDS.choices) return false;
  const schemas = nested.filter((each) => !isChoiceSchema(each));
  return [...schemas, schema['items']].every((each) => fits(each, depth + 1, tally));
}

/** Why a form's schema is too much to be checked against, if it is. */
export function formBoundsProblem(schema: JsonObject): string | undefined {
  const fields = Object.values(fieldsOf(schema));
  const tally: Tally = { schemas: 0, choices: 0 };
  if (fields.length <= FORM_BOUNDS.fields && fields.every((field) => fits(field, 1, tally)))
    return undefined;
  const { fields: most, schemas, choices, depth } = FORM_BOUNDS;
  return `its form is too large: at most ${most} fields, ${schemas} schemas, ${choices} choices and ${depth} levels`;
}

function fieldProblem(name: string, field: Json | undefined): string | undefined {
  if (!isJsonObject(field)) return `the schema of the field ${name} is no object`;
  if ('$ref' in field) return `the field ${name} has a $ref: a form's schema stands on its own`;
  return FIELD_TYPES.includes(field['type']) || listAt(field, 'enum').length > 0
    ? undefined
    : `the field ${name} needs a type: string, number, integer, boolean, or array of choices`;
}

/**
 * Why an object is no `requestedSchema` of a form, if it is none: flat, with fields of simple types, and within bounds.
 * Asked of forms that are made here; what an upstream asks is taken as it is, within the bounds.
 */
export function formSchemaProblem(schema: JsonObject): string | undefined {
  if (schema['type'] !== 'object' || !isJsonObject(schema['properties']))
    return 'a form needs a schema of type object with properties';
  const bounds = formBoundsProblem(schema);
  if (bounds !== undefined) return bounds;
  const fields = Object.entries(schema['properties']);
  const required = listAt(schema, 'required').find((name) => !fields.some(([own]) => own === name));
  if (required !== undefined)
    return `the form requires ${JSON.stringify(required)}, which is no field`;
  for (const [name, field] of fields) {
    const problem = fieldProblem(name, field);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
