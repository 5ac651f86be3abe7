import type { Feed, TaskEvent } from './feed.ts';
import type { Receiver, TaskFilter } from './receiver.ts';

/**
 * The receiver as one window has it: of its owner's tasks it is shown unasked only those that `shows` takes, in lists,
 * in announcements, and in questions that are put again. What its owner asks for by id it gets, whatever window began
 * it: whose a task is decides the principal and nothing else (decision 2).
 */
export function scopedReceiver(receiver: Receiver, shows: TaskFilter): Receiver {
  return {
    ...receiver,
    feed: scopedFeed(receiver.feed, shows),
    list: (principal, cursor) => receiver.list(principal, cursor, shows),
    asking: async (principal) =>
      (await receiver.asking(principal)).filter(({ task }) => shows(task)),
  };
}

function scopedFeed(feed: Feed, shows: TaskFilter): Feed {
  const isShown = (event: TaskEvent): boolean => !('task' in event) || shows(event.task);
  return {
    ...feed,
    watchAll: (listener) =>
      feed.watchAll((event) => {
        if (isShown(event)) listener(event);
      }),
  };
}
