import type { JsonObject } from '../../../kernel/json.ts';
import type { InputRequest } from '../../../protocol/model.ts';
import { RELATED_TASK_META } from '../../../protocol/names.ts';
import { foreignMeta, INPUT_KEY_META, withoutMetaOf } from '../meta.ts';
import type { AskRequest } from './session.ts';

/** A URL that is shown needs an id to correlate by; ours is the key, so that it stays the same on redelivery (G1-51, T4). */
function withElicitationId(params: JsonObject, key: string): JsonObject {
  return params['mode'] === 'url' ? { elicitationId: key, ...params } : params;
}

export interface QuestionOptions {
  /** The client knows the task (G1-43, G1-139). */
  readonly related: boolean;
  /** Why the last answer was not taken: whoever is asked again is to see it. */
  readonly problem?: string | undefined;
}

function withProblem(params: JsonObject, problem: string | undefined): JsonObject {
  const { message } = params;
  if (problem === undefined || typeof message !== 'string') return params;
  return { ...params, message: `${message}\n(the last answer was not taken: ${problem})` };
}

/** A task's question as a request to its client. */
export function questionRequest(
  { taskId, key, method, params }: Pick<InputRequest, 'taskId' | 'key' | 'method' | 'params'>,
  { related, problem }: QuestionOptions,
): AskRequest {
  const meta = {
    ...foreignMeta(params),
    [INPUT_KEY_META]: key,
    ...(related ? { [RELATED_TASK_META]: { taskId } } : {}),
  };
  const shown = withProblem(withElicitationId(withoutMetaOf(params), key), problem);
  return { method, params: { ...shown, _meta: meta } };
}
