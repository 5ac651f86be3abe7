import { objectAt, type JsonObject } from '../kernel/json.ts';
import { inferredClasses, isSealedClass } from '../protocol/field-class.ts';
import { formBoundsProblem } from '../protocol/form-schema.ts';
import type { InputMethod } from '../protocol/model.ts';
import { pageAddressProblem } from '../protocol/page-address.ts';

/** Why such a form is asked of nobody, and what its author can do instead. */
export const SECRET_FORM = 'it asks for a secret in a form: secrets need elicitation in URL mode';

/** A question that is passed on to nobody. */
export interface FormRefusal {
  readonly reason: 'secret_in_form' | 'form_too_large' | 'page_address';
  readonly message: string;
}

const schemaOf = (method: InputMethod, params: JsonObject): JsonObject | undefined =>
  method === 'elicitation/create' && params['mode'] !== 'url'
    ? objectAt(params, 'requestedSchema')
    : undefined;

/**
 * Whether a question wants a secret typed into a form, where client and model could see it (G1-50, G2-69). Told by what
 * a field says of itself or by its exact name: a form that only mentions secrets passes.
 */
export function asksForSecret(method: InputMethod, params: JsonObject): boolean {
  const classes = inferredClasses(schemaOf(method, params));
  return Object.values(classes).some(isSealedClass);
}

const addressProblem = (method: InputMethod, params: JsonObject): string | undefined =>
  method === 'elicitation/create' && params['mode'] === 'url'
    ? pageAddressProblem(params['url'])
    : undefined;

/**
 * Why a question is passed on to nobody, if it is not: for its secrets, for a form beyond all bounds (G2-144), or for
 * a page that nobody may be sent to (G1-51, G2-70).
 */
export function formRefusal(method: InputMethod, params: JsonObject): FormRefusal | undefined {
  if (asksForSecret(method, params)) return { reason: 'secret_in_form', message: SECRET_FORM };
  const address = addressProblem(method, params);
  if (address !== undefined) return { reason: 'page_address', message: address };
  const schema = schemaOf(method, params);
  const problem = schema && formBoundsProblem(schema);
  return problem === undefined ? undefined : { reason: 'form_too_large', message: problem };
}
