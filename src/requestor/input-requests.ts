import { isJsonObject, objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import { INPUT_METHODS } from '../protocol/model.ts';
import { passingMeta } from './envelope.ts';
import type { OwnerQuestion } from './owner-questions.ts';
import { readableQuestion } from './question-text.ts';
import { formRefusal } from './secret-forms.ts';

export type KeyedQuestion = readonly [key: string, question: OwnerQuestion];

/** The questions of an `inputRequests` map of 2026-07-28, or why it is none. */
export type ReadQuestions =
  | { readonly kind: 'questions'; readonly questions: readonly KeyedQuestion[] }
  | { readonly kind: 'invalid'; readonly problem: string };

export function readQuestions(requests: JsonObject): ReadQuestions {
  const questions: KeyedQuestion[] = [];
  for (const [key, request] of Object.entries(requests)) {
    const method = INPUT_METHODS.find(
      (known) => isJsonObject(request) && request['method'] === known,
    );
    if (method === undefined || !isJsonObject(request))
      return {
        kind: 'invalid',
        problem: `it asks for something unknown: ${stringAt(objectAt({ request }, 'request'), 'method') ?? key}`,
      };
    const { _meta: _hop, ...params } = objectAt(request, 'params') ?? {};
    const refusal = formRefusal(method, params);
    if (refusal) return { kind: 'invalid', problem: refusal.message };
    const meta = passingMeta(objectAt(objectAt(request, 'params'), '_meta') ?? {});
    const passing = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
    questions.push([key, { method, params: readableQuestion(method, passing) }]);
  }
  return { kind: 'questions', questions };
}
