import type { Principal } from '../identity/principal.ts';
import { owns } from '../identity/permissions.ts';
import type { Clock } from '../kernel/clock.ts';
import type { TaskView } from '../protocol/codec.ts';
import { expiresAt } from '../protocol/model.ts';
import type { Feed } from './feed.ts';

/** Tasks whose last view is remembered; the one that was read longest ago goes first. */
const REMEMBERED_MAX = 4096;

export interface SnapshotsOptions {
  readonly feed: Feed;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The store's time: a snapshot ends with its record, at the same instant (E3). */
  readonly now: () => number;
  /** How old a view may be. 0: none is kept, as it must be where other processes write the same records. */
  readonly ageMsMax: number;
}

/**
 * The last view of each task that somebody watches closely, so that eager pollers cost no reads of the store (O1). It
 * is dropped with every change that this process commits, and asked for its owner again at each use.
 */
export interface Snapshots {
  find(principal: Principal, taskId: string): TaskView | undefined;
  /** Remembers what `read` finds, unless the task changes meanwhile. */
  through(taskId: string, read: () => Promise<TaskView | undefined>): Promise<TaskView | undefined>;
}

interface Snapshot {
  readonly view: TaskView;
  readonly at: number;
}

export function createSnapshots({ feed, clock, now, ageMsMax }: SnapshotsOptions): Snapshots {
  const kept = new Map<string, Snapshot>();
  const reading = new Map<string, number>();
  feed.watchAll((event) => {
    if (event.kind === 'progress' || event.kind === 'log') return;
    const taskId = 'task' in event ? event.task.id : event.taskId;
    kept.delete(taskId);
    reading.delete(taskId); // what is being read now may be from before
  });
  let reads = 0;
  const remember = (taskId: string, view: TaskView): void => {
    kept.delete(taskId);
    kept.set(taskId, { view, at: clock.monotonic() });
    const [oldest] = kept.keys();
    if (kept.size > REMEMBERED_MAX && oldest !== undefined) kept.delete(oldest);
  };
  return {
    find(principal, taskId) {
      const snapshot = kept.get(taskId);
      if (!snapshot || !owns(principal, snapshot.view.task)) return undefined;
      const { task, inputs } = snapshot.view;
      const isInTime = [expiresAt(task), ...inputs.map((input) => input.expiresAt)].every(
        (end) => now() < end,
      );
      const isFresh = isInTime && clock.monotonic() - snapshot.at < ageMsMax;
      if (isFresh) return snapshot.view;
      kept.delete(taskId);
      return undefined;
    },
    async through(taskId, read) {
      if (ageMsMax <= 0) return read();
      const mine = (reads += 1);
      reading.set(taskId, mine);
      const view = await read();
      if (view && reading.get(taskId) === mine) remember(taskId, view);
      if (reading.get(taskId) === mine) reading.delete(taskId);
      return view;
    },
  };
}
