import { after, defineCheck, must, mustEqual, newTag } from '../check.ts';
import { openSession, replyOf } from '../client.ts';
import {
  createTask,
  getTask2025,
  mustHaveTimes,
  mustRefuse,
  objectAt,
  reaches2025,
  relatedTask,
  RELATED_TASK,
  resultOf,
  textOf,
} from '../steps.ts';

const SOON_MS = 1_500;
const UNKNOWN = 'AAAAAAAAAAAAAAAAAAAAAAAA';

/** How a task of 2025-11-25 is read: its status and its result. */
export const READ_2025 = [
  defineCheck(
    {
      id: '2025-get-shape',
      requirements: ['G1-29', 'G1-32', 'G1-86', 'G1-137', 'G1-19'],
      title: 'tasks/get answers with the full task and without related-task metadata',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const task = await getTask2025(session, taskId);
      mustEqual(task['taskId'], taskId, 'taskId');
      mustHaveTimes(task);
      must(
        task['ttl'] === null || Number.isInteger(task['ttl']),
        `ttl is ${JSON.stringify(task['ttl'])}`,
      );
      must(
        task['pollInterval'] === undefined || Number.isInteger(task['pollInterval']),
        'pollInterval is no integer',
      );
      must(relatedTask(task) === undefined, 'tasks/get carries related-task metadata');
      must(
        task['result'] === undefined && task['content'] === undefined,
        'tasks/get carries the result',
      );
    },
  ),
  defineCheck(
    {
      id: '2025-get-is-not-streamed',
      requirements: ['G1-34'],
      title: 'tasks/get is answered with JSON and not with a stream',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const { isStream } = await session.request('tasks/get', { taskId });
      must(!isStream, 'tasks/get was answered with a stream');
    },
  ),
  defineCheck(
    {
      id: '2025-result-blocks',
      requirements: ['G1-35', 'G1-36', 'G1-39', 'G1-138', 'G1-134'],
      title:
        'tasks/result waits for the end and then answers as the call would have, naming its task',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const label = newTag('blocks');
      const { taskId } = await createTask(session, 'slow_compute', { args: { seconds: 1, label } });
      const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
      mustEqual(
        (await getTask2025(session, taskId))['status'],
        'completed',
        'the status after tasks/result',
      );
      mustEqual(textOf(result), `${label}: computed for 1 s`, 'the text of the result');
      mustEqual(relatedTask(result), taskId, 'the related task');
      must(result['task'] === undefined, 'the result carries a task');
    },
  ),
  defineCheck(
    {
      id: '2025-result-opens-a-stream',
      requirements: ['G1-125', 'T3'],
      title: 'tasks/result of a running task opens its stream at once',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'slow_compute', {
        args: { seconds: 3, label: newTag('stream') },
      });
      const began = Date.now();
      const channel = await session.open('tasks/result', { taskId });
      const took = Date.now() - began;
      channel.close();
      must(took < SOON_MS, `headers came after ${took} ms`);
      must(channel.isStream, `tasks/result is ${channel.headers.get('content-type')}`);
      await session.request('tasks/cancel', { taskId });
    },
  ),
  defineCheck(
    {
      id: '2025-result-is-repeatable',
      requirements: ['G1-35'],
      title: 'tasks/result answers the same whenever it is asked again',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const first = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
      const second = resultOf(
        await session.request('tasks/result', { taskId }),
        'tasks/result again',
      );
      mustEqual(second, first, 'the second answer');
    },
  ),
  defineCheck(
    {
      id: '2025-tool-error-is-failed',
      requirements: ['G1-38', 'G1-96', 'T8', 'G1-39'],
      title: 'a result with isError makes the task failed, and tasks/result still returns it',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'failing_job');
      const task = await reaches2025(session, taskId, 'failed');
      must(typeof task['statusMessage'] === 'string', 'a failed task says nothing about why');
      const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
      mustEqual(result['isError'], true, 'isError');
      must(textOf(result).length > 0, 'the content of the error is gone');
      mustEqual(relatedTask(result), taskId, 'the related task');
    },
  ),
  defineCheck(
    {
      id: '2025-error-passes-through',
      requirements: ['G1-35', 'G1-37', 'G1-96'],
      title: 'a call that ends in a JSON-RPC error makes tasks/result return that very error',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'protocol_error_job');
      const reply = await session.request('tasks/result', { taskId });
      mustEqual((await getTask2025(session, taskId))['status'], 'failed', 'the status');
      mustEqual(reply.error?.code, -31_001, 'the code');
      must(
        reply.error?.message.includes('the job broke off'),
        `the message is ${reply.error?.message}`,
      );
      mustEqual(reply.error?.data, { stage: 'halfway' }, 'the data');
    },
  ),
  defineCheck(
    {
      id: '2025-structured-result',
      requirements: ['G1-41', 'G1-35'],
      title: 'structured content of a tool with an output schema comes through a task',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
      mustEqual(result['structuredContent'], { answer: 42 }, 'structuredContent');
      const { tools } = resultOf(await session.request('tools/list'), 'tools/list');
      const tool = (tools as Record<string, unknown>[]).find(
        ({ name }) => name === 'structured_job',
      );
      mustEqual(
        objectAt(tool, 'outputSchema')['required'],
        ['answer'],
        'what the output schema requires',
      );
    },
  ),
  defineCheck(
    {
      id: '2025-unknown-task',
      requirements: ['G1-90', 'T13'],
      title: 'an unknown or impossible taskId is -32602 for get, result and cancel',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        for (const taskId of [UNKNOWN, '', 7, undefined]) {
          const reply = await session.request(method, { taskId });
          mustRefuse(reply, -32_602, `${method} of ${JSON.stringify(taskId)}`);
        }
      }
    },
  ),
  defineCheck(
    {
      id: '2025-related-task-is-ignored',
      requirements: ['G1-136', 'T10'],
      title:
        'related-task metadata on a request about a task does not change which task it is about',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const other = await createTask(session, 'structured_job');
      const _meta = { [RELATED_TASK]: { taskId: other['taskId'] } };
      const read = resultOf(await session.request('tasks/get', { taskId, _meta }), 'tasks/get');
      mustEqual(read['taskId'], taskId, 'the task that was read');
      const forged = { [RELATED_TASK]: { taskId: UNKNOWN } };
      const result = resultOf(
        await session.request('tasks/result', { taskId, _meta: forged }),
        'tasks/result',
      );
      mustEqual(relatedTask(result), taskId, 'the related task of the result');
    },
  ),
  defineCheck(
    {
      id: '2025-times-tell-changes',
      requirements: ['T16', 'G1-19'],
      title: 'lastUpdatedAt moves when the task does and stays when it is read',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'failing_job');
      const first = await getTask2025(session, taskId);
      await after(100);
      const second = await getTask2025(session, taskId);
      if (second['status'] === first['status']) {
        mustEqual(second['lastUpdatedAt'], first['lastUpdatedAt'], 'lastUpdatedAt after a read');
      }
      const ended = await reaches2025(session, taskId, 'failed');
      must(
        String(ended['lastUpdatedAt']) > String(first['lastUpdatedAt']),
        'lastUpdatedAt did not move with the end',
      );
      mustEqual(ended['createdAt'], first['createdAt'], 'createdAt');
    },
  ),
  defineCheck(
    {
      id: '2025-waiters-all-hear',
      requirements: ['G1-36', 'G1-40'],
      title: 'several who wait for one result all get it, and one who leaves takes nothing along',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'slow_compute', {
        args: { seconds: 0.7, label: newTag('waiters') },
      });
      const [leaver, ...stayers] = await Promise.all(
        [1, 2, 3].map(() => session.open('tasks/result', { taskId })),
      );
      leaver?.close();
      const replies = await Promise.all(stayers.map((channel) => replyOf(channel, channel.id)));
      for (const reply of replies)
        must(textOf(reply.result).includes('computed'), `a waiter got ${JSON.stringify(reply)}`);
    },
  ),
];
