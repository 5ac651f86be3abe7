import type { JsonObject } from '../../../kernel/json.ts';
import { RELATED_TASK_META } from '../../../protocol/names.ts';
import { withMeta } from '../../../protocol/result-meta.ts';
import type { TaskEvent } from '../../../runtime/feed.ts';
import { createProgressMeter, type ProgressMeter } from '../call/progress-meter.ts';
import { notification } from '../message.ts';
import type { Lane } from './lane.ts';
import type { QuestionDesk } from './question-desk.ts';
import type { Session } from './session.ts';

/**
 * Progress and log of tasks, to the session that created them: the token is a name that only its requests know. On the
 * open `tasks/result` stream, else on the GET stream, else nowhere (T11). Until the task ends (G1-140, G1-141).
 */
export interface ProgressDesk {
  expect(taskId: string, session: Session, token: string | number | undefined): void;
  onEvent(event: TaskEvent): void;
  /** The session is gone, and its tokens with it. */
  forget(session: Session): void;
}

interface Expected {
  readonly session: Session;
  readonly token: string | number | undefined;
  readonly meter: ProgressMeter;
}

export function createProgressDesk(desk: QuestionDesk): ProgressDesk {
  const expected = new Map<string, Expected>();
  const laneOf = (taskId: string, session: Session): Lane =>
    desk.carrierOf(taskId, session)?.lane ?? session.standalone;
  const send = (
    taskId: string,
    { session }: Expected,
    message: readonly [method: string, params: JsonObject],
  ): void => {
    const lane = laneOf(taskId, session);
    const [method, params] = message;
    if (lane.isOpen())
      lane.send(notification(method, withMeta(params, { [RELATED_TASK_META]: { taskId } })));
  };
  const progress = (taskId: string, entry: Expected, params: JsonObject): void => {
    const { token } = entry;
    if (token !== undefined && entry.meter.admits(params))
      send(taskId, entry, ['notifications/progress', { ...params, progressToken: token }]);
  };
  const log = (taskId: string, entry: Expected, params: JsonObject): void => {
    if (entry.session.wantsLog(params['level']))
      send(taskId, entry, ['notifications/message', params]);
  };
  return {
    expect: (taskId, session, token) =>
      void expected.set(taskId, { session, token, meter: createProgressMeter() }),
    onEvent(event) {
      if (event.kind === 'changed')
        return void (event.task.phase === 'ended' && expected.delete(event.task.id));
      if (event.kind !== 'progress' && event.kind !== 'log') return;
      const entry = expected.get(event.taskId);
      if (!entry) return;
      if (event.kind === 'progress') progress(event.taskId, entry, event.params);
      else log(event.taskId, entry, event.params);
    },
    forget(session) {
      for (const [taskId, entry] of expected)
        if (entry.session === session) expected.delete(taskId);
    },
  };
}
