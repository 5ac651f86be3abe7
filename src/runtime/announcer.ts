import type { InputRequest, Task } from '../protocol/model.ts';
import { createFeed, type ClosedBecause, type Feed } from './feed.ts';
import { pollHintMs } from './poll-hint.ts';

/** Tasks whose last announced revision is remembered; far more than change at one moment. */
const REMEMBERED_MAX = 4096;

/** Publishes committed changes, in the order of their commits. */
export interface Announcer {
  readonly feed: Feed;
  changed(task: Task): void;
  asked(task: Task, inputs: readonly InputRequest[]): void;
  closed(taskId: string, keys: readonly string[], why: ClosedBecause): void;
  confirmed(taskId: string, key: string): void;
  /** The task as a reader sees it now: with the hint that fits its age. */
  shown(task: Task): Task;
}

/** `now`: the store's time. `onFailed`: hears what a listener throws. */
export function createAnnouncer(
  now: () => number,
  onFailed?: (thrown: unknown) => void,
): Announcer {
  const feed = createFeed(onFailed);
  const revisions = new Map<string, number>();
  const shown = (task: Task): Task => ({ ...task, pollIntervalMs: pollHintMs(task, now()) });

  /**
   * Writes that were committed one after the other may come back to us the other way round. Who has seen the end of a
   * task must never see it open again: a state that is not newer than one that was published stays unsaid.
   */
  const isNews = ({ id, revision }: Task): boolean => {
    if ((revisions.get(id) ?? -1) >= revision) return false;
    revisions.delete(id);
    revisions.set(id, revision);
    const [oldest] = revisions.keys();
    if (revisions.size > REMEMBERED_MAX && oldest !== undefined) revisions.delete(oldest);
    return true;
  };

  return {
    feed,
    shown,
    changed(task) {
      if (isNews(task)) feed.publish(task.id, { kind: 'changed', task: shown(task) });
    },
    asked(task, inputs) {
      if (isNews(task)) feed.publish(task.id, { kind: 'asked', task: shown(task), inputs });
    },
    closed(taskId, keys, why) {
      if (keys.length > 0) feed.publish(taskId, { kind: 'closed', taskId, keys, why });
    },
    confirmed: (taskId, key) => feed.publish(taskId, { kind: 'confirmed', taskId, key }),
  };
}
