import type { Tables } from './session.ts';
import { taskEvent } from './settlement.ts';
import type { WokenBy } from './sleep-table.ts';

/** The last open question is gone: whoever sleeps on it goes on, exactly once, in the transaction that closed it (Q3). */
export function wakeIfAnswered(tables: Tables, now: number, taskId: string): boolean {
  return !tables.inputs.hasOpen(taskId) && wake(tables, now, { taskId, by: 'answers' });
}

/** Its owner wants it stopped: the next attempt is the one that ends it. */
export function wakeToStop(tables: Tables, now: number, taskId: string): boolean {
  return wake(tables, now, { taskId, by: 'cancel' });
}

interface Waking {
  readonly taskId: string;
  readonly by: WokenBy;
}

function wake(tables: Tables, now: number, { taskId, by }: Waking): boolean {
  const woken = tables.sleeping.wake(taskId, by);
  if (woken) noteWoken(tables, now, { taskId, reason: by });
  return woken;
}

interface Woken {
  readonly taskId: string;
  readonly reason: WokenBy | 'time';
}

export function noteWoken({ tasks, events }: Tables, now: number, { taskId, reason }: Woken): void {
  const task = tasks.find(taskId);
  if (task !== undefined) events.append(now, taskEvent('task.woken', { task, reason }));
}
