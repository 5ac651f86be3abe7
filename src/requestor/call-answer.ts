import { isJsonObject, objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import type { UpstreamTask } from '../stores/attempts.ts';
import type { PeerGeneration } from './connection.ts';

/** What the answer to `tools/call` means: it may be the result, a question, or a task. */
export type CallAnswer =
  | { readonly kind: 'complete' }
  | { readonly kind: 'task'; readonly task: UpstreamTask }
  | InputRequired
  | Invalid;

/** A question of 2026-07-28: the call is to be made again, with the answers and this state. */
export interface InputRequired {
  readonly kind: 'input_required';
  readonly requests: JsonObject;
  readonly state: string | undefined;
}

interface Invalid {
  readonly kind: 'invalid';
  readonly problem: string;
}

const invalid = (problem: string): Invalid => ({ kind: 'invalid', problem });

/** Reads the answer in the peer's generation. `augmented`: the request asked for a task, which only 2025-11-25 can. */
export function readCallAnswer(
  result: JsonObject,
  generation: PeerGeneration,
  augmented: boolean,
): CallAnswer {
  if (generation === '2026-07-28') return readAnswer2026(result);
  const task = objectAt(result, 'task');
  if (augmented && task && !Array.isArray(result['content'])) return readTask(task, '2025-11-25');
  return readComplete(result);
}

function readAnswer2026(result: JsonObject): CallAnswer {
  const { resultType } = result;
  if (resultType === 'task') return readTask(result, '2026-07-28');
  if (resultType === 'input_required') return readInputRequired(result);
  return readComplete(result); // absent counts as complete (G2-16)
}

function readTask(task: JsonObject, generation: UpstreamTask['generation']): CallAnswer {
  const taskId = stringAt(task, 'taskId');
  if (taskId === undefined || taskId === '') return invalid('it made a task without an id');
  const interval = task[generation === '2026-07-28' ? 'pollIntervalMs' : 'pollInterval'];
  const pollIntervalMs =
    typeof interval === 'number' && interval > 0 ? { pollIntervalMs: interval } : {};
  return { kind: 'task', task: { generation, taskId, ...pollIntervalMs } };
}

/** Reads an `InputRequiredResult` (G2-62). */
export function readInputRequired(result: JsonObject): InputRequired | Invalid {
  const { inputRequests: requests, requestState: state } = result;
  if (requests !== undefined && !isJsonObject(requests))
    return invalid('its input requests are no map');
  if (state !== undefined && typeof state !== 'string')
    return invalid('its request state is no text');
  if (requests === undefined && state === undefined)
    return invalid('it asks for input without saying which');
  return { kind: 'input_required', requests: requests ?? {}, state };
}

/** A tool result has content, or at least something in its place; what else it has is its own affair. */
function readComplete(result: JsonObject): CallAnswer {
  const { content, structuredContent, toolResult } = result;
  if (Array.isArray(content)) return { kind: 'complete' };
  const hasOther = structuredContent !== undefined || toolResult !== undefined;
  return content === undefined && hasOther
    ? { kind: 'complete' }
    : invalid('its answer is no tool result');
}
