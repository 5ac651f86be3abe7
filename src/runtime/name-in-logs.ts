import { anonymousPrincipal } from '../identity/principal.ts';
import type { Task } from '../protocol/model.ts';

/** What a task is called in logs. */
export type NameInLogs = (task: Pick<Task, 'id' | 'owner'>) => string;

const ANONYMOUS = anonymousPrincipal().key;

/** Whether the task is a caller's whom nothing but the id tells from others. */
export const isAnonymousTask = (task: Pick<Task, 'owner'>): boolean => task.owner === ANONYMOUS;

/** The id, except where it doubles as the caller's secret: there it is a keyed hash of it (decision 3). */
export function createNameInLogs(hashId: (id: string) => string): NameInLogs {
  return (task) => (isAnonymousTask(task) ? hashId(task.id) : task.id);
}
