import { isJsonObject, objectAt, type JsonObject } from '../../kernel/json.ts';
import type { AskKind, InputRequest } from '../../protocol/model.ts';
import { askKindOf } from '../../protocol/model.ts';
import { TASKS_EXTENSION } from '../../protocol/names.ts';
import type { TaskView } from '../../protocol/codec.ts';

/** An empty `elicitation` means form only (G1-47, G2-66). */
function elicitationKinds(elicitation: JsonObject): readonly AskKind[] {
  const form = isJsonObject(elicitation['form']) || Object.keys(elicitation).length === 0;
  const url = isJsonObject(elicitation['url']);
  return [
    ...(form ? (['elicitation-form'] as const) : []),
    ...(url ? (['elicitation-url'] as const) : []),
  ];
}

/** What a client that declares these capabilities can be asked (G1-48, G2-59). */
export function asksOf(capabilities: JsonObject): readonly AskKind[] {
  const elicitation = objectAt(capabilities, 'elicitation');
  return [
    ...(elicitation === undefined ? [] : elicitationKinds(elicitation)),
    ...(isJsonObject(capabilities['sampling']) ? (['sampling'] as const) : []),
    ...(isJsonObject(capabilities['roots']) ? (['roots'] as const) : []),
  ];
}

/** Any object under the extension's name is support, also with settings that we do not know (G2-02). */
export const declaresTasks = (capabilities: JsonObject): boolean =>
  objectAt(objectAt(capabilities, 'extensions'), TASKS_EXTENSION) !== undefined;

export const canBeAsked = (
  asks: readonly AskKind[],
  input: Pick<InputRequest, 'method' | 'params'>,
): boolean => asks.includes(askKindOf(input.method, input.params));

/**
 * A view cut to what this reader can be asked. Without a question left the codecs show `working` and why, because
 * `input_required` would be a promise that the reader cannot keep (decision 8).
 */
export function readableBy(asks: readonly AskKind[], view: TaskView): TaskView {
  return { ...view, inputs: view.inputs.filter((input) => canBeAsked(asks, input)) };
}
