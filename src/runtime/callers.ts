import type { Feed } from './feed.ts';

/**
 * Callers of this process that wait on the same task: the one that started it, and those that repeated the call. One
 * of them that goes away must not end the work of the others.
 */
export interface Callers {
  enter(taskId: string): void;
  /** Whether nobody else is left. */
  leave(taskId: string): boolean;
  /** Whether more than one is there. */
  isShared(taskId: string): boolean;
}

export function createCallers(feed: Feed): Callers {
  const present = new Map<string, number>();
  feed.watchAll((event) => {
    if (event.kind === 'changed' && event.task.phase === 'ended') present.delete(event.task.id);
  });
  const countOf = (taskId: string): number => present.get(taskId) ?? 0;
  return {
    enter: (taskId) => void present.set(taskId, countOf(taskId) + 1),
    leave(taskId) {
      const left = countOf(taskId) - 1;
      if (left > 0) present.set(taskId, left);
      else present.delete(taskId);
      return left <= 0;
    },
    isShared: (taskId) => countOf(taskId) > 1,
  };
}
