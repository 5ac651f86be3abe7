import { toIso } from '../../kernel/clock.ts';
import type { TaskView } from '../../protocol/codec.ts';
import { endingOf, expiresAt, GENERATIONS } from '../../protocol/model.ts';
import type { InputRequest, Outcome, Task } from '../../protocol/model.ts';
import { statusOf } from '../../protocol/task-machine.ts';
import type { Answered, Receiver, RepeatedBy } from '../../runtime/receiver.ts';
import { operationSideOf, readingOf, taskSideOf } from '../../runtime/two-answers.ts';
import { SCHEMA_VERSION } from './schemas.ts';

const [older, newer] = GENERATIONS;
type Operation = Awaited<ReturnType<Receiver['operation']>>;

function members(task: Task, row: Operation) {
  return {
    id: task.id,
    tool: task.tool,
    effect: task.effect,
    revision: task.revision,
    protocol: {
      phase: task.phase,
      ending: task.ending ?? null,
      status: { [older]: statusOf(task, older), [newer]: statusOf(task, newer) },
      message: task.message ?? null,
    },
    outcome: readingOf(taskSideOf(task), operationSideOf(task, row)),
    operation:
      row === undefined ? null : { id: row.id, state: row.state, reason: row.reason ?? null },
    createdAt: toIso(task.createdAt),
    updatedAt: toIso(task.updatedAt),
    expiresAt: toIso(expiresAt(task)),
    cancelRequestedAt: task.cancelRequestedAt === undefined ? null : toIso(task.cancelRequestedAt),
    lookAgainAfterMs: task.phase === 'ended' ? null : task.pollIntervalMs,
  };
}

const questionDocument = ({ key, method, params, askedAt, expiresAt: until }: InputRequest) => ({
  key,
  method,
  params,
  askedAt: toIso(askedAt),
  expiresAt: toIso(until),
});

/** A job with what its owner may see beside it, and its operation where there is one. */
export interface Looked {
  readonly view: TaskView;
  readonly operation: Operation;
}

export const jobDocument = ({ view, operation: row }: Looked, deduplicated?: RepeatedBy) => ({
  schemaVersion: SCHEMA_VERSION,
  ...members(view.task, row),
  questions: view.inputs.map(questionDocument),
  ...(deduplicated === undefined ? {} : { deduplicated }),
});

export const resultDocument = ({ view, operation: row }: Looked, ended: Outcome) => ({
  schemaVersion: SCHEMA_VERSION,
  job: members(view.task, row),
  ending: endingOf(ended),
  result: ended.kind === 'result' ? ended.result : null,
  error: ended.kind === 'error' ? { ...ended.error } : null,
});

export const listDocument = (
  jobs: readonly { readonly task: Task; readonly operation: Operation }[],
  nextCursor: string | undefined,
) => ({
  schemaVersion: SCHEMA_VERSION,
  items: jobs.map(({ task, operation: row }) => members(task, row)),
  nextCursor: nextCursor ?? null,
});

export const answeredDocument = ({
  taken,
  ignored,
  expired,
}: Extract<Answered, { readonly kind: 'taken' }>) => ({
  schemaVersion: SCHEMA_VERSION,
  taken,
  ignored,
  expired,
});

export const cancelledDocument = (
  kind: 'cancelled' | 'already_ended',
  { view, operation: row }: Looked,
) => ({ schemaVersion: SCHEMA_VERSION, kind, job: members(view.task, row) });

/** Changes with what the document says; not with the hint, which only grows. */
export const etagOf = ({ view: { task }, operation: row }: Looked): string =>
  `W/"${task.revision}${row === undefined ? '' : `.${row.state}`}"`;
