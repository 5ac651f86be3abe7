import type { Task } from '../protocol/model.ts';
import type { Store } from '../stores/store.ts';
import { attemptDocument, inputDocument, taskDocument } from './documents.ts';
import type { TaskDetail, TaskDocument } from './documents.ts';
import { eventDocuments } from './event-reads.ts';
import { taskUnknown } from './refusals.ts';

const EVENTS_SHOWN_MAX = 200;

/** The task whoever owns it, or LONGCALL_TASK_UNKNOWN. */
export async function taskOf(store: Store, taskId: string): Promise<Task> {
  const task = await store.tasks.get('system', taskId);
  if (task === undefined) throw taskUnknown();
  return task;
}

/** Both columns, read one after the other: the ledger's side may be newer than the task's, never older. */
export async function readTaskDocument(store: Store, task: Task): Promise<TaskDocument> {
  const { operationId } = task;
  const operation =
    operationId === undefined ? undefined : await store.operations.get('system', operationId);
  return taskDocument(task, operation);
}

/** Everything about a task but what was asked for, what came out, and what its owner was asked. */
export async function readTaskDetail(store: Store, task: Task): Promise<TaskDetail> {
  const [document, attempts, inputs, events] = await Promise.all([
    readTaskDocument(store, task),
    store.attempts.listOf(task.id),
    store.inputs.listOpen('system', task.id),
    store.events.list({ taskId: task.id, limit: EVENTS_SHOWN_MAX }),
  ]);
  return {
    ...document,
    attempts: attempts.map(attemptDocument),
    inputs: inputs.map(inputDocument),
    events: eventDocuments(events),
  };
}
