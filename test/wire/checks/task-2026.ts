import { after, defineCheck, eventually, must, mustEqual, newTag } from '../check.ts';
import { createClient2026, DECLARES_NO_TASKS } from '../client.ts';
import {
  callAsTask,
  getTask,
  mustHaveTimes,
  mustRefuse,
  objectAt,
  reaches,
  relatedTask,
  resultOf,
  tells,
  textOf,
} from '../steps.ts';

const UNKNOWN = 'AAAAAAAAAAAAAAAAAAAAAAAA';
const LONG_S = 30;
const QUIET_MS = 700;
/** What only a task's other variants carry. */
const VARIANT_FIELDS = ['result', 'error', 'inputRequests'];

/** The life of a task of 2026-07-28. */
export const TASK_2026 = [
  defineCheck(
    {
      id: '2026-create-shape',
      requirements: ['G2-20', 'G2-21', 'G2-26', 'G2-27', 'G2-28', 'G2-29', 'G2-38', 'T24'],
      title: 'a task is created flat and working, and can be read at once under "complete"',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const call = {
        name: 'slow_compute',
        arguments: { seconds: LONG_S, label: newTag('create') },
      };
      const created = resultOf(await client.request('tools/call', call), 'slow_compute');
      const taskId = String(created['taskId']);
      const read = await getTask(client, taskId);
      await client.request('tasks/cancel', { taskId });
      mustEqual(created['resultType'], 'task', 'the type of the create result');
      mustEqual(created['status'], 'working', 'the first status');
      must(created['task'] === undefined, 'the task is nested');
      mustEqual(
        VARIANT_FIELDS.filter((name) => name in created),
        [],
        'fields that the create result must not have',
      );
      mustEqual(read['resultType'], 'complete', 'the type of tasks/get');
      for (const task of [created, read]) {
        mustHaveTimes(task);
        must(
          task['ttlMs'] === null || Number.isInteger(task['ttlMs']),
          'ttlMs is neither null nor an integer',
        );
      }
      mustEqual(read['createdAt'], created['createdAt'], 'createdAt in tasks/get');
    },
  ),
  defineCheck(
    {
      id: '2026-results-are-signed',
      requirements: ['G2-15', 'G2-154'],
      title: 'every result says of what type it is and who made it',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'confirm_delete', {
        args: { filename: newTag('file') },
      });
      const requests = [
        ['server/discover', {}],
        ['tools/list', {}],
        ['tools/call', { name: 'greet', arguments: { name: 'World' } }],
        ['tools/call', { name: 'structured_job', arguments: {} }],
        ['tasks/get', { taskId }],
        ['tasks/update', { taskId, inputResponses: {} }],
        ['tasks/cancel', { taskId }],
      ] as const;
      for (const [method, params] of requests) {
        const result = resultOf(await client.request(method, params), method);
        const type = String(result['resultType']);
        must(['complete', 'task'].includes(type), `the type of ${method} is ${type}`);
        const server = objectAt(objectAt(result, '_meta'), 'io.modelcontextprotocol/serverInfo');
        must(typeof server['name'] === 'string', `${method} does not say who answered`);
      }
    },
  ),
  defineCheck(
    {
      id: '2026-no-text-for-the-model',
      requirements: ['G2-172'],
      title: 'a handle carries no text for the model, which belongs to 2025-11-25',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const created = resultOf(
        await client.request('tools/call', { name: 'structured_job', arguments: {} }),
        'structured_job',
      );
      mustEqual(created['resultType'], 'task', 'the type of the create result');
      const texts = Object.keys(objectAt(created, '_meta')).filter((name) =>
        name.endsWith('/model-immediate-response'),
      );
      mustEqual(texts, [], 'what the handle says to the model');
    },
  ),
  defineCheck(
    {
      id: '2026-result-inline',
      requirements: ['G2-41', 'G2-44', 'G2-45', 'G2-46', 'G2-163', 'T22'],
      title:
        'what a completed task carries is what the call would have returned, an error of the tool included',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const structured = await reaches(
        client,
        await callAsTask(client, 'structured_job'),
        'completed',
      );
      const failing = await reaches(client, await callAsTask(client, 'failing_job'), 'completed');
      mustEqual(
        objectAt(structured, 'result')['structuredContent'],
        { answer: 42 },
        'the structured content',
      );
      mustEqual(objectAt(failing, 'result')['isError'], true, 'isError');
      for (const task of [structured, failing]) {
        mustEqual(
          objectAt(task, 'result')['resultType'],
          'complete',
          'the type of the inlined result',
        );
        must(relatedTask(task['result']) === undefined, 'the result carries related-task metadata');
        must(task['error'] === undefined, 'a completed task carries an error');
      }
    },
  ),
  defineCheck(
    {
      id: '2026-failed-says-why',
      requirements: ['G2-43', 'G2-118', 'G2-24'],
      title: 'a failed task carries the JSON-RPC error as it was and a message for people',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const task = await reaches(client, await callAsTask(client, 'protocol_error_job'), 'failed');
      const error = objectAt(task, 'error');
      mustEqual(error['code'], -31_001, 'the code');
      must(
        String(error['message']).includes('the job broke off'),
        `the message is ${String(error['message'])}`,
      );
      mustEqual(error['data'], { stage: 'halfway' }, 'the data');
      must(
        typeof task['statusMessage'] === 'string' && task['statusMessage'] !== '',
        'there is no statusMessage',
      );
      must(task['result'] === undefined, 'a failed task carries a result');
    },
  ),
  defineCheck(
    {
      id: '2026-unknown-task-get',
      requirements: ['G2-114', 'T13'],
      title: 'tasks/get of an unknown task is -32602',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      mustRefuse(await client.request('tasks/get', { taskId: UNKNOWN }), -32_602, 'tasks/get');
    },
  ),
  defineCheck(
    {
      id: '2026-unknown-task-update',
      requirements: ['G2-114', 'T28'],
      title: 'tasks/update of an unknown task is -32602',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const params = { taskId: UNKNOWN, inputResponses: {} };
      mustRefuse(await client.request('tasks/update', params), -32_602, 'tasks/update');
    },
  ),
  defineCheck(
    {
      id: '2026-unknown-task-cancel',
      requirements: ['G2-89', 'G2-114'],
      title: 'tasks/cancel of an unknown task is -32602',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      mustRefuse(
        await client.request('tasks/cancel', { taskId: UNKNOWN }),
        -32_602,
        'tasks/cancel',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-terminal-is-final',
      requirements: ['G2-22', 'G2-23', 'G2-54', 'G2-85', 'G2-87', 'T28', 'T29'],
      title: 'cancel and update of an ended task are acknowledged and change nothing',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'structured_job');
      const before = await reaches(client, taskId, 'completed');
      for (const [method, more] of [
        ['tasks/cancel', {}],
        ['tasks/update', { inputResponses: { a: { action: 'accept' } } }],
      ] as const) {
        const ack = resultOf(await client.request(method, { taskId, ...more }), method);
        mustEqual(ack['resultType'], 'complete', `the type of the answer to ${method}`);
        mustEqual(
          ['taskId', 'status', ...VARIANT_FIELDS].filter((name) => name in ack),
          [],
          `fields in the answer to ${method}`,
        );
      }
      await after(QUIET_MS);
      mustEqual(await getTask(client, taskId), before, 'the task afterwards');
    },
  ),
  defineCheck(
    {
      id: '2026-cancel-stops-the-work',
      requirements: ['G2-39', 'G2-84', 'G2-86', 'G2-87', 'G2-93'],
      title: 'a cancelled task stops its work and is then read as cancelled and bare',
    },
    async ({ alice, effects }) => {
      const client = createClient2026(alice);
      const label = newTag('cancel');
      const taskId = await callAsTask(client, 'slow_compute', { args: { seconds: LONG_S, label } });
      const happened = (event: string) =>
        eventually(
          () => (effects(label).some((line) => line.event === event) ? true : undefined),
          `${event} of ${label}`,
        );
      await happened('tick');
      resultOf(await client.request('tasks/cancel', { taskId }), 'tasks/cancel');
      const task = await reaches(client, taskId, 'cancelled');
      mustEqual(
        VARIANT_FIELDS.filter((name) => name in task),
        [],
        'fields that a cancelled task must not have',
      );
      await happened('cancelled');
      mustEqual(
        (await getTask(client, taskId))['status'],
        'cancelled',
        'the status after the work stopped',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-disconnect-cancels-the-call',
      requirements: ['G2-91', 'T27'],
      title:
        'closing the stream of a call without a task stops its work; a task outlives its stream',
    },
    async ({ alice, effects }) => {
      const client = createClient2026(alice);
      const [plain, tasked] = [newTag('plain'), newTag('tasked')];
      const happened = (label: string, event: string) =>
        eventually(
          () => (effects(label).some((line) => line.event === event) ? true : undefined),
          `${event} of ${label}`,
        );
      const leave = new AbortController();
      const params = { name: 'slow_compute', arguments: { seconds: LONG_S, label: plain } };
      const options = { capabilities: DECLARES_NO_TASKS, signal: leave.signal };
      const call = client.open('tools/call', params, options).catch(() => undefined);
      await happened(plain, 'tick');
      leave.abort();
      await call;
      await happened(plain, 'cancelled');
      const created = await client.open('tools/call', {
        name: 'slow_compute',
        arguments: { seconds: 0.5, label: tasked },
      });
      await created.waitFor(({ id }) => id === created.id, 'the task');
      created.close();
      await happened(tasked, 'finish');
    },
  ),
  defineCheck(
    {
      id: '2026-task-has-no-progress',
      requirements: ['G2-166', 'G2-167', 'G2-168', 'G2-60'],
      title:
        'the answer that creates a task ends its stream, without progress and without requests',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const call = { name: 'test_tool_with_progress', arguments: {} };
      const created = await client.open('tools/call', call, {
        meta: { progressToken: newTag('token') },
      });
      await created.ended;
      const methods = created.received.map(({ method }) => method).filter(Boolean);
      mustEqual(methods, [], 'what came beside the response');
      const taskId = String(objectAt(created.received.at(-1), 'result')['taskId']);
      await reaches(client, taskId, 'completed');
    },
  ),
  defineCheck(
    {
      id: '2026-plain-call-has-progress',
      requirements: ['G2-157', 'G2-168'],
      title: 'a call without a task reports its progress on its own stream, before the response',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const progressToken = newTag('token');
      const call = { name: 'test_tool_with_progress', arguments: {} };
      const options = { capabilities: DECLARES_NO_TASKS, meta: { progressToken } };
      const { messages, result } = await client.request('tools/call', call, options);
      must(result, 'the call was refused');
      const progress = messages
        .filter(tells('notifications/progress'))
        .map((message) => objectAt(message, 'params'));
      must(progress.length > 0, 'no progress came');
      must(
        progress.every((params) => params['progressToken'] === progressToken),
        'progress has another token',
      );
      must(textOf(result).length > 0, 'the result is empty');
    },
  ),
];
