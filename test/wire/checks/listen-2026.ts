import { NO_HTTP } from '../channel.ts';
import type { Channel, Message } from '../channel.ts';
import { after, defineCheck, must, mustEqual, newTag } from '../check.ts';
import type { Client2026 } from '../client.ts';
import { createClient2026 } from '../client.ts';
import {
  callAsTask,
  getTask,
  isRequest,
  objectAt,
  reaches,
  resultOf,
  SUBSCRIPTION,
  tells,
  textOf,
} from '../steps.ts';

type Json = Readonly<Record<string, unknown>>;
type Stream = Channel & { readonly id: string };

const UNKNOWN = 'AAAAAAAAAAAAAAAAAAAAAAAA';
const QUIET_MS = 700;
const YES = { action: 'accept', content: { confirm: true } };
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

const listen = (client: Client2026, ...taskIds: string[]): Promise<Stream> =>
  client.open('subscriptions/listen', { notifications: { taskIds } });

/** What the stream told of a task, oldest first. */
const toldOf = ({ received }: Channel, taskId: string): Json[] =>
  received
    .filter(tells('notifications/tasks'))
    .map((message) => objectAt(message, 'params'))
    .filter((params) => params['taskId'] === taskId);

const tellsStatus =
  (taskId: string, status: string) =>
  (message: Message): boolean => {
    const params = objectAt(message, 'params');
    return (
      tells('notifications/tasks')(message) &&
      params['taskId'] === taskId &&
      params['status'] === status
    );
  };

const isResponseTo =
  ({ id }: Stream) =>
  (message: Message): boolean =>
    message['id'] === id && message['method'] === undefined;

/** A task as told or as read, without what belongs to the message around it. */
function bare(task: Json): Json {
  const { _meta, resultType: _type, ...own } = task;
  return Object.fromEntries(
    Object.entries(own).toSorted(([one], [other]) => one.localeCompare(other)),
  );
}

/** Subscriptions to tasks. */
export const LISTEN_2026 = [
  defineCheck(
    {
      id: '2026-listen-is-acknowledged',
      requirements: ['G2-101', 'G2-102', 'G2-108', 'T36'],
      title:
        'the first message acknowledges the tasks that can be read, and all carry the subscription',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'slow_compute', {
        args: {
          seconds: 0.5,
          label: newTag('listen'),
        },
      });
      const stream = await listen(client, taskId, UNKNOWN);
      await stream.waitFor(tellsStatus(taskId, 'completed'), 'the end of the task');
      await stream.waitFor(isResponseTo(stream), 'the answer to the subscription');
      const [first] = stream.received;
      mustEqual(first?.['method'], ACKNOWLEDGED, 'the first message');
      const accepted = objectAt(objectAt(first, 'params'), 'notifications');
      mustEqual(accepted['taskIds'], [taskId], 'the accepted tasks');
      for (const message of stream.received.filter(({ method }) => method !== undefined)) {
        const subscription = objectAt(objectAt(message, 'params'), '_meta')[SUBSCRIPTION];
        mustEqual(subscription, stream.id, `the subscription of ${String(message['method'])}`);
      }
      if (stream.status !== NO_HTTP)
        mustEqual(stream.headers.get('x-accel-buffering'), 'no', 'X-Accel-Buffering');
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2026-listen-shows-the-task',
      requirements: ['G2-96', 'T21', 'T36'],
      title: 'the task is shown as it is at once and as tasks/get shows it in the end',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'slow_compute', {
        args: {
          seconds: 0.5,
          label: newTag('shown'),
        },
      });
      const stream = await listen(client, taskId);
      const last = objectAt(
        await stream.waitFor(tellsStatus(taskId, 'completed'), 'the end of the task'),
        'params',
      );
      mustEqual(toldOf(stream, taskId)[0]?.['status'], 'working', 'the first status');
      mustEqual(bare(last), bare(await getTask(client, taskId)), 'the task that was told last');
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2026-listen-ends-with-its-tasks',
      requirements: ['G2-105', 'T35', 'T36'],
      title: 'when every task has ended the subscription is answered and its stream closes',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const done = await callAsTask(client, 'structured_job');
      await reaches(client, done, 'completed');
      const running = await callAsTask(client, 'slow_compute', {
        args: {
          seconds: 0.4,
          label: newTag('ends'),
        },
      });
      const stream = await listen(client, done, running);
      await stream.waitFor(tellsStatus(done, 'completed'), 'the task that had ended before');
      const response = await stream.waitFor(isResponseTo(stream), 'the answer to the subscription');
      mustEqual(objectAt(response, 'result')['resultType'], 'complete', 'the type of the answer');
      must(
        toldOf(stream, running).some(({ status }) => status === 'completed'),
        'the stream ended before its tasks',
      );
      await stream.ended;
    },
  ),
  defineCheck(
    {
      id: '2026-listen-shows-questions',
      requirements: ['G2-96', 'G2-47', 'G2-60'],
      title:
        'questions are told with their keys, answers end them, and nothing is asked on the stream itself',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const filename = newTag('file');
      const taskId = await callAsTask(client, 'confirm_delete', { args: { filename } });
      const stream = await listen(client, taskId);
      const asked = objectAt(
        await stream.waitFor(tellsStatus(taskId, 'input_required'), 'the question'),
        'params',
      );
      const [key = ''] = Object.keys(objectAt(asked, 'inputRequests'));
      resultOf(
        await client.request('tasks/update', { taskId, inputResponses: { [key]: YES } }),
        'tasks/update',
      );
      const ended = objectAt(
        await stream.waitFor(tellsStatus(taskId, 'completed'), 'the end of the task'),
        'params',
      );
      mustEqual(textOf(ended['result']), `Deleted ${filename}`, 'the result that was told');
      mustEqual(stream.received.filter(isRequest), [], 'requests on the stream');
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2026-listen-keeps-to-its-filter',
      requirements: ['G2-99', 'G2-104'],
      title: 'nothing is told that was not asked for: no other task, no progress, no log, no list',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'slow_compute', {
        args: {
          seconds: 1,
          label: newTag('filter'),
        },
      });
      const stream = await listen(client, taskId);
      await stream.waitFor(tellsStatus(taskId, 'working'), 'the task');
      const other = await callAsTask(client, 'test_tool_with_progress', {
        meta: { progressToken: newTag('token') },
      });
      await reaches(client, other, 'completed');
      await after(QUIET_MS);
      const methods = new Set(stream.received.map(({ method }) => method).filter(Boolean));
      mustEqual([...methods], [ACKNOWLEDGED, 'notifications/tasks'], 'what was told');
      mustEqual(toldOf(stream, other), [], 'what was told of another task');
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2026-questions-go-in-silence',
      requirements: ['G2-94'],
      title:
        'the question of a cancelled task just goes: nothing but a subscription is cancelled to the client',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'confirm_delete', {
        args: { filename: newTag('file') },
      });
      const stream = await listen(client, taskId);
      await stream.waitFor(tellsStatus(taskId, 'input_required'), 'the question');
      resultOf(await client.request('tasks/cancel', { taskId }), 'tasks/cancel');
      await stream.waitFor(tellsStatus(taskId, 'cancelled'), 'the cancel');
      await stream.waitFor(isResponseTo(stream), 'the answer to the subscription');
      const cancelled = stream.received
        .filter(tells('notifications/cancelled'))
        .map((message) => objectAt(message, 'params')['requestId'])
        .filter((requestId) => requestId !== stream.id);
      mustEqual(cancelled, [], 'the requests that were cancelled to the client');
    },
  ),
  defineCheck(
    {
      id: '2026-listen-tells-cancels',
      requirements: ['G2-96', 'G2-39'],
      title: 'a cancel is told too',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'slow_compute', {
        args: {
          seconds: 30,
          label: newTag('cancelled'),
        },
      });
      const stream = await listen(client, taskId);
      await stream.waitFor(tellsStatus(taskId, 'working'), 'the task');
      resultOf(await client.request('tasks/cancel', { taskId }), 'tasks/cancel');
      await stream.waitFor(tellsStatus(taskId, 'cancelled'), 'the cancel');
      stream.close();
    },
  ),
];
