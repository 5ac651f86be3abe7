import type { Message } from '../channel.ts';
import { after, defineCheck, must, mustEqual, newTag } from '../check.ts';
import { openSession, replyOf } from '../client.ts';
import {
  createTask,
  distinct,
  mustHaveTimes,
  objectAt,
  reaches2025,
  relatedTask,
  tells,
  TERMINAL,
} from '../steps.ts';

type Json = Readonly<Record<string, unknown>>;

const QUIET_MS = 500;

const paramsOf = (messages: readonly Message[], method: string): Json[] =>
  messages.filter(tells(method)).map((message) => objectAt(message, 'params'));

/** What a server of 2025-11-25 tells without being asked. */
export const NOTIFY_2025 = [
  defineCheck(
    {
      id: '2025-status-is-told',
      requirements: ['G1-81', 'G1-83', 'T10', 'T17'],
      title:
        'a change of status is told on the standalone stream, with the full task and no related-task metadata',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const stream = await session.listen();
      const { taskId } = await createTask(session, 'slow_compute', {
        args: { seconds: 0.3, label: newTag('told') },
      });
      const ended = (message: Message): boolean => {
        const { taskId: id, status } = objectAt(message, 'params');
        return (
          tells('notifications/tasks/status')(message) &&
          id === taskId &&
          TERMINAL.includes(String(status))
        );
      };
      const task = objectAt(await stream.waitFor(ended, 'the end of the task'), 'params');
      mustEqual(task['status'], 'completed', 'the status that was told');
      mustHaveTimes(task);
      must('ttl' in task, 'the task that was told has no ttl');
      must(relatedTask(task) === undefined, 'the notification carries related-task metadata');
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2025-progress-goes-on',
      requirements: ['G1-134', 'G1-140', 'G1-141', 'G1-142', 'T11'],
      title: 'progress of a task keeps its token, grows, names its task, and stops with the end',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const stream = await session.listen();
      const progressToken = newTag('progress');
      const { taskId } = await createTask(session, 'test_tool_with_progress', {
        meta: { progressToken },
      });
      const waiting = await session.open('tasks/result', { taskId });
      await replyOf(waiting, waiting.id);
      await after(QUIET_MS);
      const heard = distinct([stream, waiting].flatMap(({ received }) => received));
      const told = paramsOf(heard, 'notifications/progress').filter(
        (params) => params['progressToken'] === progressToken,
      );
      must(told.length > 0, 'no progress came after the task was created');
      const values = told.map(({ progress }) => Number(progress));
      must(
        values.every((value, index) => index === 0 || value > (values[index - 1] ?? value)),
        `progress is ${values.join()}`,
      );
      for (const params of told)
        mustEqual(relatedTask(params), taskId, 'the related task of progress');
      const ended = waiting.received.findIndex(({ method }) => method === undefined);
      must(
        paramsOf(waiting.received.slice(ended), 'notifications/progress').length === 0,
        'progress came after the end',
      );
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2025-nothing-is-told-twice',
      requirements: ['G1-84'],
      title: 'with several streams open each message goes out on one of them',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const stream = await session.listen();
      const progressToken = newTag('once');
      const { taskId } = await createTask(session, 'test_tool_with_progress', {
        meta: { progressToken },
      });
      const waiting = await Promise.all([1, 2].map(() => session.open('tasks/result', { taskId })));
      await Promise.all(waiting.map((channel) => replyOf(channel, channel.id)));
      await reaches2025(session, taskId, 'completed');
      await after(QUIET_MS);
      const messages = distinct([stream, ...waiting].flatMap(({ received }) => received));
      const progress = paramsOf(messages, 'notifications/progress')
        .filter((params) => params['progressToken'] === progressToken)
        .map((params) => params['progress']);
      mustEqual(
        new Set(progress).size,
        progress.length,
        'the number of different progress messages',
      );
      const ends = paramsOf(messages, 'notifications/tasks/status').filter(
        (params) => params['taskId'] === taskId && params['status'] === 'completed',
      );
      must(ends.length <= 1, `the end was told ${ends.length} times`);
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2025-others-are-told-nothing',
      requirements: ['G1-99', 'G1-100'],
      title: "nothing about a task reaches somebody else's stream",
    },
    async ({ alice, bob }) => {
      const [session, other] = await Promise.all([openSession(alice), openSession(bob)]);
      const stream = await other.listen();
      const made = await Promise.all([
        createTask(session, 'confirm_delete', { args: { filename: newTag('private') } }),
        createTask(session, 'slow_compute', { args: { seconds: 0.3, label: newTag('private') } }),
      ]);
      const [asking, working] = made.map((task) => task['taskId']);
      await reaches2025(session, asking, 'input_required');
      await reaches2025(session, working, 'completed');
      await session.request('tasks/cancel', { taskId: asking });
      await after(QUIET_MS);
      const leaked = stream.received.filter((message) =>
        made.some(({ taskId }) => JSON.stringify(message).includes(String(taskId))),
      );
      mustEqual(leaked, [], 'what came on the other stream');
      stream.close();
    },
  ),
];
