import type { TaskView } from './codec.ts';
import type { Generation, Outcome, RpcError, Task, TaskStatus } from './model.ts';
import { RPC_CODES } from './names.ts';
import { statusOf } from './task-machine.ts';

const UNANSWERABLE = 'waiting for an answer that this client cannot give';

/**
 * The status to show. A question that the reader cannot be asked (its view has no inputs) is `working` to it, because
 * `input_required` must come with something to answer (decision 8, G2-47).
 */
export function shownStatus(view: TaskView, reader: Generation): TaskStatus {
  const status = statusOf(view.task, reader);
  return status === 'input_required' && view.inputs.length === 0 ? 'working' : status;
}

/** A task as it is handed out: always `working`, whatever has happened since the commit (G1-20, T24). */
export const seedOf = (task: Task): TaskView => {
  const { ending: _ending, message: _message, ...seed } = task;
  return { task: { ...seed, phase: 'working' }, inputs: [] };
};

function endWords(view: TaskView): string | undefined {
  if (view.task.ending === 'tool_error') return 'the tool reported an error';
  if (view.task.ending === 'cancelled') return 'cancelled';
  return view.task.ending === 'error' ? 'the request ended in an error' : undefined;
}

/** The status message; a failed task always has one (G1-96, G2-118). */
export function shownMessage(view: TaskView): string | undefined {
  if (view.task.phase === 'input_required' && view.inputs.length === 0) return UNANSWERABLE;
  return view.task.message ?? endWords(view);
}

/** What a cancelled request answers where an answer is owed (T5). */
export function cancelledError(taskId: string): RpcError {
  return {
    code: RPC_CODES.internalError,
    message: 'Task was cancelled',
    data: { taskId, status: 'cancelled' },
  };
}

/** The error of an ended task; a stored outcome that is not there is said to be internal, never guessed. */
export function errorOf(outcome: Outcome | undefined): RpcError {
  if (outcome?.kind === 'error') return outcome.error;
  return { code: RPC_CODES.internalError, message: 'the outcome of this task could not be read' };
}
