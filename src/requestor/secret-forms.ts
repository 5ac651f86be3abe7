import { isJsonObject, objectAt, type Json, type JsonObject } from '../kernel/json.ts';
import type { InputMethod } from '../protocol/model.ts';

/** Why such a form is asked of nobody, and what its author can do instead. */
export const SECRET_FORM = 'it asks for a secret in a form: secrets need elicitation in URL mode';

/** Names of fields that hold secrets, without case and separators. */
const SECRET_NAMES: readonly string[] = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'clientsecret',
  'apikey',
  'accesstoken',
  'refreshtoken',
  'privatekey',
  'cardnumber',
  'creditcardnumber',
  'cvc',
  'cvv',
];

function isSecret(name: string, field: Json | undefined): boolean {
  if (!isJsonObject(field)) return false;
  if (field['format'] === 'password' || field['writeOnly'] === true) return true;
  // "Change the password?" may be asked; the password may not.
  return (
    field['type'] !== 'boolean' &&
    SECRET_NAMES.includes(name.toLowerCase().replaceAll(/[^a-z]/g, ''))
  );
}

/**
 * Whether a question wants a secret typed into a form, where client and model could see it (G1-50, G2-69). Told by what
 * a field says of itself or by its exact name: a form that only mentions secrets passes.
 */
export function asksForSecret(method: InputMethod, params: JsonObject): boolean {
  if (method !== 'elicitation/create' || params['mode'] === 'url') return false;
  const fields = objectAt(objectAt(params, 'requestedSchema'), 'properties') ?? {};
  return Object.entries(fields).some(([name, field]) => isSecret(name, field));
}
