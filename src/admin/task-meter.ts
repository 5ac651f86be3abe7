import type { CallOrigin, Generation, Task, TaskStatus } from '../protocol/model.ts';
import { TASK_MOVES, statusOf } from '../protocol/task-machine.ts';
import type { Feed } from '../runtime/feed.ts';
import type { MetricFamily } from './exposition.ts';
import { createHistogram, createTally } from './tally.ts';

/** Upper limits in seconds; tasks may run for a day. */
const DURATION_BOUNDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400];

/** An end may be told more than once, as when its handle is marked afterwards; it is counted once. */
const ENDED_REMEMBERED_MAX = 4096;

const WIRES = {
  '2025-11-25': 'legacy',
  '2026-07-28': 'extension',
  plain: 'none',
  job: 'job',
} as const satisfies Record<CallOrigin, string>;

/** Which spelling of Tasks a call came by: `legacy`, `extension`, `job` for job tools and REST, or `none`. */
export const wireOf = (origin: CallOrigin): string => WIRES[origin];

/** The status as the task's own caller sees it; of a call without Tasks, as the newest generation would. */
export function ownStatusOf(task: Pick<Task, 'phase' | 'ending' | 'origin'>): TaskStatus {
  const reader: Generation = task.origin === '2025-11-25' ? task.origin : '2026-07-28';
  return statusOf(task, reader);
}

/** The last ids that were added, up to a number of them. */
function createRecentSet(max: number) {
  const ids = new Set<string>();
  return {
    has: (id: string): boolean => ids.has(id),
    add(id: string): void {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > max && oldest !== undefined) ids.delete(oldest);
    },
  };
}

export interface TaskMeter {
  families(): readonly MetricFamily[];
}

export interface TaskMeterOptions {
  readonly feed: Feed;
  /** Start of the process, in ms since the epoch. */
  readonly startedAt: number;
}

/**
 * Counts what this process has seen happen since it started. A task that an earlier process left behind is first
 * seen in the middle of its life: its end is counted as a move from `unknown`, nothing before it.
 */
export function createTaskMeter({ feed, startedAt }: TaskMeterOptions): TaskMeter {
  const transitions = createTally();
  const durations = createHistogram(DURATION_BOUNDS);
  const open = new Map<string, TaskStatus>();
  const ended = createRecentSet(ENDED_REMEMBERED_MAX);

  const countMove = (from: TaskStatus | undefined, to: TaskStatus): void => {
    const isLegal = from === undefined || (TASK_MOVES[from] as readonly TaskStatus[]).includes(to);
    transitions.add({ from: from ?? 'unknown', to, legal: String(isLegal) });
  };
  const see = (task: Task): void => {
    if (ended.has(task.id)) return;
    const isOurs = task.createdAt >= startedAt;
    const from = open.get(task.id) ?? (isOurs ? 'working' : undefined);
    const to = ownStatusOf(task);
    const hasEnded = task.phase === 'ended';
    if (from === undefined ? hasEnded : from !== to) countMove(from, to);
    if (!hasEnded) return void open.set(task.id, to);
    open.delete(task.id);
    ended.add(task.id);
    const labels = { peer: task.upstream, tool: task.tool, status: to };
    durations.observe(labels, Math.max(0, task.updatedAt - task.createdAt) / 1000);
  };
  feed.watchAll((event) => {
    if (event.kind === 'changed' || event.kind === 'asked') see(event.task);
  });

  return {
    families: () => [
      {
        name: 'longcall_task_transitions_total',
        type: 'counter',
        help: 'Moves between statuses that this process has seen; legal="false" must stay 0.',
        samples: transitions.samples(),
      },
      {
        name: 'longcall_task_duration_seconds',
        type: 'histogram',
        help: 'From create to end, of tasks that ended in this process.',
        samples: durations.samples(),
      },
    ],
  };
}
