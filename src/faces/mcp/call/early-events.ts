import type { Feed, TaskEvent, TaskListener } from '../../../runtime/feed.ts';

/**
 * Hears a call from before its record has an id: a fast tool reports progress while the answer of the commit is still
 * on its way to us.
 */
export interface EarlyEvents {
  /** Tells what has been heard of this task so far, then goes on with it. Returns the way to stop. */
  follow(taskId: string, listener: TaskListener): () => void;
  /** The call was not started. */
  stop(): void;
}

const taskOf = (event: TaskEvent): string => ('task' in event ? event.task.id : event.taskId);

export function hearEarly(feed: Feed): EarlyEvents {
  const heard: TaskEvent[] = [];
  const stop = feed.watchAll((event) => void heard.push(event));
  return {
    stop,
    follow(taskId, listener) {
      stop();
      for (const event of heard.splice(0)) if (taskOf(event) === taskId) listener(event);
      return feed.watch(taskId, listener);
    },
  };
}
