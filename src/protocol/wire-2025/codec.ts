import { toIso } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Codec2025, ResultReply, TaskView } from '../codec.ts';
import type { Outcome, Task, TaskStatus } from '../model.ts';
import { IMMEDIATE_RESPONSE_META, RELATED_TASK_META } from '../names.ts';
import { withMeta, withoutMeta } from '../result-meta.ts';
import { statusOf } from '../task-machine.ts';
import { cancelledError, errorOf, seedOf, shownMessage, shownStatus } from '../task-words.ts';

/** `Task` of 2025-11-25 (schema.ts): `ttl` and `pollInterval` in ms, times in RFC 3339 (G1-19, G1-32). */
function encodeFields(task: Task, status: TaskStatus, message: string | undefined): JsonObject {
  return {
    taskId: task.id,
    status,
    ...(message === undefined ? {} : { statusMessage: message }),
    createdAt: toIso(task.createdAt),
    lastUpdatedAt: toIso(task.updatedAt),
    ttl: task.ttlMs,
    pollInterval: task.pollIntervalMs,
  };
}

const encodeTask = (view: TaskView): JsonObject =>
  encodeFields(view.task, shownStatus(view, '2025-11-25'), shownMessage(view));

/** An entry of the list: no questions are read for it, so its status is the task's own. */
const encodeEntry = (task: Task): JsonObject =>
  encodeFields(task, statusOf(task, '2025-11-25'), task.message);

/** A result of this generation has no `resultType`; related-task metadata is ours to set, never the upstream's. */
const asResult2025 = (result: JsonObject): JsonObject => {
  const { resultType: _, ...rest } = withoutMeta(result, [RELATED_TASK_META]);
  return rest;
};

function encodeInline(outcome: Outcome): ResultReply {
  if (outcome.kind === 'result') return { kind: 'result', result: asResult2025(outcome.result) };
  return { kind: 'error', error: outcome.kind === 'error' ? outcome.error : errorOf(undefined) };
}

function encodeResult({ task, outcome }: TaskView): ResultReply {
  if (task.ending === 'cancelled') return { kind: 'error', error: cancelledError(task.id) };
  if (outcome?.kind !== 'result') return { kind: 'error', error: errorOf(outcome) };
  const related = { [RELATED_TASK_META]: { taskId: task.id } }; // G1-39, G1-138
  return { kind: 'result', result: withMeta(asResult2025(outcome.result), related) };
}

export const codec2025: Codec2025 = {
  generation: '2025-11-25',
  encodeCreate(task, options = {}) {
    const created: JsonObject = { task: encodeTask(seedOf(task)) };
    const words = options.immediateResponse;
    return words === undefined ? created : withMeta(created, { [IMMEDIATE_RESPONSE_META]: words });
  },
  encodeTask,
  encodeCancelled: encodeTask,
  encodeNotification: (view) => ({
    method: 'notifications/tasks/status',
    params: encodeTask(view),
  }),
  encodeInline,
  encodeResult,
  encodeList: (tasks, nextCursor) => ({
    tasks: tasks.map(encodeEntry),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  }),
};
