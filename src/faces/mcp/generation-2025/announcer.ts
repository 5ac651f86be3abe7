import { codec2025 } from '../../../protocol/select-codec.ts';
import type { InputRequest, Task } from '../../../protocol/model.ts';
import type { TaskEvent } from '../../../runtime/feed.ts';
import { readableBy } from '../client-capabilities.ts';
import { notification } from '../message.ts';
import type { Hub } from './hub.ts';

export interface AnnouncerOptions {
  readonly hub: Hub;
  /** The questions that are open now. */
  readonly pending: (taskId: string) => readonly InputRequest[];
  /** Whether the handle left although its record does not say so yet. */
  readonly isLeaving: (taskId: string) => boolean;
}

const REMEMBERED_MAX = 10_000;

/** What a client can see of a task's change. */
const faceOf = ({ phase, ending, message }: Task): string =>
  JSON.stringify([phase, ending, message]);

/**
 * `notifications/tasks/status` on the GET streams of a task's owner, one for each change, none after the end, and none
 * for calls whose handle never left (G1-81). Returns the listener for the feed.
 */
export function createAnnouncer({
  hub,
  pending,
  isLeaving,
}: AnnouncerOptions): (event: TaskEvent) => void {
  const told = new Map<string, string>();
  const remember = (taskId: string, face: string): void => {
    told.delete(taskId);
    told.set(taskId, face);
    const [oldest] = told.keys();
    if (told.size > REMEMBERED_MAX && oldest !== undefined) told.delete(oldest);
  };
  const announce = (task: Task): void => {
    for (const session of hub.listenersOf(task)) {
      if (session.generation !== '2025-11-25' || !session.standalone.isOpen()) continue;
      const view = readableBy(session.asks, { task, inputs: pending(task.id) });
      const { method, params } = codec2025.encodeNotification(view);
      session.standalone.send(notification(method, params));
    }
  };
  return (event) => {
    if (event.kind !== 'changed' && event.kind !== 'asked') return;
    const { task } = event;
    if (task.handle !== 'given' && !isLeaving(task.id)) return;
    // The questions come with `asked`; before them the change cannot be told truthfully.
    if (task.phase === 'input_required' && pending(task.id).length === 0) return;
    const face = faceOf(task);
    if (told.get(task.id) === face) return;
    remember(task.id, face);
    announce(task);
  };
}
