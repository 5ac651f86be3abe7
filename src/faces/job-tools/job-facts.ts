import { toIso } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { TaskView } from '../../protocol/codec.ts';
import { expiresAt, TASK_STATUSES } from '../../protocol/model.ts';
import { statusOf } from '../../protocol/task-machine.ts';
import type { JobHelper } from '../../runtime/job-tools.ts';

/** The call that takes a job further, so that nobody has to guess it. */
export interface NextCall {
  readonly tool: JobHelper;
  readonly arguments: JsonObject;
}

/** The member of `structuredContent` under which a handle stands, apart from everything that a tool may have of its own. */
export const JOB_MEMBER = 'longcall';

/**
 * What a program reads of a job. The handle is the task's id. A tool's own error is `failed`, as it is to readers of
 * 2025-11-25: whoever reads this reads no generation.
 */
export function jobFacts({ task }: TaskView, next?: NextCall): JsonObject {
  return {
    job: task.id,
    tool: task.tool,
    status: statusOf(task, '2025-11-25'),
    createdAt: toIso(task.createdAt),
    keptUntil: toIso(expiresAt(task)),
    ...(task.phase === 'ended' ? {} : { lookAgainAfterMs: task.pollIntervalMs }),
    ...(next === undefined ? {} : { next: { ...next } }),
  };
}

/** The schema of a `structuredContent` that carries a handle in place of a tool's own. */
export const HANDLE_SCHEMA: JsonObject = {
  type: 'object',
  description: 'The call goes on as a job: call the tool that next names.',
  properties: {
    [JOB_MEMBER]: {
      type: 'object',
      properties: {
        job: { type: 'string' },
        tool: { type: 'string' },
        status: { type: 'string', enum: TASK_STATUSES },
        next: {
          type: 'object',
          properties: { tool: { type: 'string' }, arguments: { type: 'object' } },
        },
      },
      required: ['job', 'status'],
    },
  },
  required: [JOB_MEMBER],
};
