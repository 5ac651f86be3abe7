import { isJsonObject, objectAt, type Json, type JsonObject } from '../kernel/json.ts';
import { FIELD_CLASSES, type FieldClass, type InputPolicy } from './model.ts';

/** Classes that never go through a form and are encrypted at rest (G1-50, G2-69). */
const SEALED_CLASSES = ['secret', 'payment', 'credential'] as const;

export const isSealedClass = (fieldClass: FieldClass): boolean =>
  SEALED_CLASSES.some((sealed) => sealed === fieldClass);

/** Names of fields that hold secrets, without case and separators. */
const SECRET_NAMES: ReadonlyMap<string, FieldClass> = new Map(
  Object.entries({
    password: 'credential',
    passwd: 'credential',
    passphrase: 'credential',
    secret: 'secret',
    clientsecret: 'credential',
    apikey: 'credential',
    accesstoken: 'credential',
    refreshtoken: 'credential',
    privatekey: 'credential',
    cardnumber: 'payment',
    creditcardnumber: 'payment',
    cvc: 'payment',
    cvv: 'payment',
  } as const),
);

const bareName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');

/** "Which size?" has an answer out of a list; what is typed freely may be about a person. */
const isChoice = (field: JsonObject): boolean =>
  field['type'] === 'boolean' ||
  ['enum', 'oneOf', 'anyOf'].some((keyword) => Array.isArray(field[keyword]));

/**
 * What a field holds, told by what it says of itself and by its exact name: a form that only mentions secrets passes.
 * Whatever is typed freely counts as personal.
 */
export function classOfField(name: string, field: Json | undefined): FieldClass {
  if (!isJsonObject(field)) return 'personal';
  if (field['format'] === 'password' || field['writeOnly'] === true) return 'secret';
  // "Change the password?" may be asked; the password may not.
  const named = field['type'] === 'boolean' ? undefined : SECRET_NAMES.get(bareName(name));
  return named ?? (isChoice(field) ? 'public' : 'personal');
}

/** The fields of a form, by name. */
export const fieldsOf = (schema: JsonObject | undefined): JsonObject =>
  objectAt(schema, 'properties') ?? {};

/** The class of each field of a form, as far as the form itself tells. */
export function inferredClasses(
  schema: JsonObject | undefined,
): Readonly<Record<string, FieldClass>> {
  const classes = Object.entries(fieldsOf(schema)).map(
    ([name, field]) => [name, classOfField(name, field)] as const,
  );
  return Object.fromEntries(classes);
}

/** The most sensitive class of what a question asks for; `personal` where it says nothing. */
export function classOfQuestion(policy: InputPolicy | undefined): FieldClass {
  const ranks = Object.values(policy?.fields ?? {}).map((each) => FIELD_CLASSES.indexOf(each));
  return FIELD_CLASSES[Math.max(...ranks)] ?? 'personal';
}
