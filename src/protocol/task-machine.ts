import type { Generation, Task, TaskEnding, TaskPhase, TaskStatus } from './model.ts';

/** The allowed moves between statuses, the same in both generations (G1-21, G1-22, G2-22). */
export const TASK_MOVES = {
  working: ['input_required', 'completed', 'failed', 'cancelled'],
  input_required: ['working', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<TaskStatus, readonly TaskStatus[]>;

/** The same machine on what is stored: a status is derived, a phase moves. */
export const PHASE_MOVES = {
  working: ['input_required', 'ended'],
  input_required: ['working', 'ended'],
  ended: [],
} as const satisfies Record<TaskPhase, readonly TaskPhase[]>;

export function canMove(from: TaskPhase, to: TaskPhase): boolean {
  return (PHASE_MOVES[from] as readonly TaskPhase[]).includes(to);
}

function statusOfEnding(ending: TaskEnding, reader: Generation): TaskStatus {
  switch (ending) {
    case 'result':
      return 'completed';
    case 'tool_error':
      return reader === '2025-11-25' ? 'failed' : 'completed'; // G1-38, G2-44
    case 'error':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
  }
}

/** The status as a reader of that generation sees it. */
export function statusOf(task: Pick<Task, 'phase' | 'ending'>, reader: Generation): TaskStatus {
  if (task.phase !== 'ended') return task.phase;
  return task.ending === undefined ? 'failed' : statusOfEnding(task.ending, reader);
}
