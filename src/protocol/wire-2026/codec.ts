import { toIso } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Codec2026, ResultReply, TaskView } from '../codec.ts';
import type { InputRequest, Outcome, RpcError } from '../model.ts';
import { RELATED_TASK_META } from '../names.ts';
import { withoutMeta } from '../result-meta.ts';
import { errorOf, seedOf, shownMessage, shownStatus } from '../task-words.ts';

/** `Task` of the extension: `ttlMs` and `pollIntervalMs`, times in RFC 3339 (G2-20, G2-109). */
function encodeTaskFields(view: TaskView): JsonObject {
  const { task } = view;
  const message = shownMessage(view);
  return {
    taskId: task.id,
    status: shownStatus(view, '2026-07-28'),
    ...(message === undefined ? {} : { statusMessage: message }),
    createdAt: toIso(task.createdAt),
    lastUpdatedAt: toIso(task.updatedAt),
    ttlMs: task.ttlMs,
    pollIntervalMs: task.pollIntervalMs,
  };
}

const encodeInputs = (inputs: readonly InputRequest[]): JsonObject =>
  Object.fromEntries(inputs.map(({ key, method, params }) => [key, { method, params }]));

const encodeError = ({ code, message, data }: RpcError): JsonObject =>
  data === undefined ? { code, message } : { code, message, data };

/** The inlined result is what the request would have answered, so it has its own `resultType` (T22) and no related-task (G2-45). */
const asResult2026 = (result: JsonObject): JsonObject => ({
  ...withoutMeta(result, [RELATED_TASK_META]),
  resultType: 'complete',
});

/** `DetailedTask`: the variant for the status (G2-38, G2-39, G2-41, G2-43, G2-47). */
function encodeDetailed(view: TaskView): JsonObject {
  const fields = encodeTaskFields(view);
  switch (shownStatus(view, '2026-07-28')) {
    case 'working':
    case 'cancelled':
      return fields;
    case 'input_required':
      return { ...fields, inputRequests: encodeInputs(view.inputs) };
    case 'completed':
      return view.outcome?.kind === 'result'
        ? { ...fields, result: asResult2026(view.outcome.result) }
        : { ...fields, status: 'failed', error: encodeError(errorOf(undefined)) };
    case 'failed':
      return { ...fields, error: encodeError(errorOf(view.outcome)) };
  }
}

function encodeInline(outcome: Outcome): ResultReply {
  if (outcome.kind === 'result') return { kind: 'result', result: asResult2026(outcome.result) };
  return { kind: 'error', error: outcome.kind === 'error' ? outcome.error : errorOf(undefined) };
}

const encodeAck = (): JsonObject => ({ resultType: 'complete' });

export const codec2026: Codec2026 = {
  generation: '2026-07-28',
  encodeCreate: (task) => ({ ...encodeTaskFields(seedOf(task)), resultType: 'task' }), // G2-26
  encodeTask: (view) => ({ ...encodeDetailed(view), resultType: 'complete' }),
  encodeCancelled: encodeAck,
  encodeNotification: (view) => ({ method: 'notifications/tasks', params: encodeDetailed(view) }),
  encodeInline,
  encodeAck,
};
