import { objectAt, stringAt, type JsonObject } from '../../kernel/json.ts';
import { fieldsOf, inferredClasses, isSealedClass } from '../../protocol/field-class.ts';
import type { InputRequest } from '../../protocol/model.ts';

type Asked = Pick<InputRequest, 'method' | 'params' | 'policy'>;

export const formOf = ({ params }: Pick<InputRequest, 'params'>): JsonObject =>
  objectAt(params, 'requestedSchema') ?? {};

export const messageOfQuestion = ({ params }: Pick<InputRequest, 'params'>): string =>
  stringAt(params, 'message') ?? '';

/**
 * Whether a model may answer (decision 8): a form whose author said so of every one of its fields, none of which holds a
 * secret. What an upstream asks says no such thing, so it is always the person's; so is a plain yes or no to nothing.
 */
export function isForModel({ method, params, policy }: Asked): boolean {
  if (method !== 'elicitation/create' || params['mode'] === 'url' || !policy) return false;
  const fields = Object.keys(fieldsOf(formOf({ params })));
  const inferred = inferredClasses(formOf({ params }));
  return (
    fields.length > 0 &&
    fields.every(
      (field) =>
        policy.answerableByModel.includes(field) &&
        !isSealedClass(policy.fields[field] ?? inferred[field] ?? 'personal'),
    )
  );
}

export const isForPerson = (asked: Asked): boolean => !isForModel(asked);
