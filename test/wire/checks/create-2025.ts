import { defineCheck, must, mustEqual, untested } from '../check.ts';
import { openSession, TASKS_EXTENSION } from '../client.ts';
import {
  createTask,
  getTask2025,
  mustHaveTimes,
  mustRefuse,
  objectAt,
  relatedTask,
  resultOf,
  textOf,
} from '../steps.ts';

const AT_ONCE_MS = 2_000;
const FOREVER_MS = 1_000_000_000_000;

/** How a task of 2025-11-25 comes to be: capabilities, modes, the create answer. */
export const CREATE_2025 = [
  defineCheck(
    {
      id: '2025-capabilities',
      requirements: ['G1-01', 'G1-02', 'G1-65', 'G1-148'],
      title: 'initialize declares list, cancel and tools/call for a caller who can be told apart',
    },
    async ({ alice }) => {
      const { initialized } = await openSession(alice);
      const tasks = objectAt(objectAt(initialized, 'capabilities'), 'tasks');
      mustEqual(tasks['list'], {}, 'capabilities.tasks.list');
      mustEqual(tasks['cancel'], {}, 'capabilities.tasks.cancel');
      mustEqual(tasks['requests'], { tools: { call: {} } }, 'capabilities.tasks.requests');
    },
  ),
  defineCheck(
    {
      id: '2025-anonymous-has-no-list',
      requirements: ['G1-80', 'G1-01'],
      title: 'callers who cannot be told apart get tasks but no list of them',
    },
    async ({ anonymous }) => {
      if (!anonymous) return untested('this target serves nobody without a token');
      const session = await openSession(anonymous);
      const tasks = objectAt(objectAt(session.initialized, 'capabilities'), 'tasks');
      must(tasks['list'] === undefined, 'tasks.list is declared to an anonymous caller');
      mustEqual(tasks['requests'], { tools: { call: {} } }, 'capabilities.tasks.requests');
      mustRefuse(await session.request('tasks/list'), -32_601, 'tasks/list of an anonymous caller');
      const { taskId } = await createTask(session, 'structured_job');
      mustEqual((await getTask2025(session, taskId))['taskId'], taskId, 'the id of the task');
    },
  ),
  defineCheck(
    {
      id: '2025-modes-are-listed',
      requirements: ['G1-07'],
      title: 'tools/list says for each tool whether it can, must or cannot be a task',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { tools } = resultOf(await session.request('tools/list'), 'tools/list');
      const support = (name: string): unknown => {
        const tool = (tools as Record<string, unknown>[]).find(
          (candidate) => candidate['name'] === name,
        );
        return objectAt(tool, 'execution')['taskSupport'];
      };
      must(
        [undefined, 'forbidden'].includes(support('greet') as string),
        'greet is listed as able to be a task',
      );
      mustEqual(support('slow_compute'), 'optional', 'taskSupport of slow_compute');
      mustEqual(support('failing_job'), 'required', 'taskSupport of failing_job');
    },
  ),
  defineCheck(
    {
      id: '2025-forbidden-is-refused',
      requirements: ['G1-09', 'G1-95', 'T2'],
      title: 'a tool that cannot be a task refuses to be one, with -32601',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const params = { name: 'greet', arguments: { name: 'World' }, task: {} };
      mustRefuse(await session.request('tools/call', params), -32_601, 'greet as a task');
    },
  ),
  defineCheck(
    {
      id: '2025-required-plain-is-refused',
      requirements: ['G1-12', 'G1-95', 'T1'],
      title:
        'a tool that must be a task refuses a plain call, with a JSON-RPC error and not with a result',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const reply = await session.request('tools/call', { name: 'failing_job', arguments: {} });
      mustRefuse(reply, -32_601, 'failing_job without a task');
    },
  ),
  defineCheck(
    {
      id: '2025-unknown-tool',
      requirements: ['G1-97'],
      title: 'an unknown tool is -32602, as a task and without one',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      for (const task of [undefined, {}]) {
        const params = { name: 'no_such_tool', arguments: {}, ...(task ? { task } : {}) };
        mustRefuse(await session.request('tools/call', params), -32_602, 'an unknown tool');
      }
    },
  ),
  defineCheck(
    {
      id: '2025-create-shape',
      requirements: ['G1-17', 'G1-19', 'G1-20', 'G1-25', 'G1-26', 'T10'],
      title: 'a task is answered at once, nested, working, with its times and without the result',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const began = Date.now();
      const params = {
        name: 'slow_compute',
        arguments: { seconds: 60, label: 'create' },
        task: {},
      };
      const created = resultOf(await session.request('tools/call', params), 'slow_compute');
      const took = Date.now() - began;
      const task = objectAt(created, 'task');
      await session.request('tasks/cancel', { taskId: task['taskId'] });
      must(took < AT_ONCE_MS, `the answer took ${took} ms`);
      must(typeof task['taskId'] === 'string', 'task.taskId is no string');
      mustEqual(task['status'], 'working', 'the first status');
      mustHaveTimes(task);
      must(
        task['ttl'] === null || Number.isInteger(task['ttl']),
        'task.ttl is neither null nor an integer',
      );
      must(
        created['content'] === undefined || (created['content'] as unknown[]).length === 0,
        'content came with the task',
      );
      must(created['taskId'] === undefined, 'the task is not only nested but also flat');
      must(relatedTask(created) === undefined, 'CreateTaskResult carries related-task metadata');
    },
  ),
  defineCheck(
    {
      id: '2025-task-param-is-checked',
      requirements: ['T15', 'G1-24'],
      title: 'a task parameter that is no object with an integer ttl is refused',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      for (const task of ['yes', 7, [], { ttl: 'soon' }, { ttl: 1.5 }, { ttl: null }]) {
        const params = { name: 'structured_job', arguments: {}, task };
        mustRefuse(
          await session.request('tools/call', params),
          -32_602,
          `task: ${JSON.stringify(task)}`,
        );
      }
    },
  ),
  defineCheck(
    {
      id: '2025-ttl-is-granted',
      requirements: ['G1-85', 'G1-86', 'G1-118', 'T6', 'T15'],
      title: 'an impossible ttl is changed, the real one is reported, and reading keeps it',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      for (const ttl of [0, -5, FOREVER_MS]) {
        const task = await createTask(session, 'structured_job', { task: { ttl } });
        const granted = task['ttl'];
        must(
          Number.isInteger(granted) && (granted as number) > 0,
          `ttl ${ttl} was granted as ${String(granted)}`,
        );
        must((granted as number) < FOREVER_MS, 'there is no limit to the ttl');
        mustEqual((await getTask2025(session, task['taskId']))['ttl'], granted, 'ttl in tasks/get');
      }
    },
  ),
  defineCheck(
    {
      id: '2025-older-version-has-no-tasks',
      requirements: ['G1-13', 'G1-15', 'G1-148', 'G1-149'],
      title: 'a session of an older version runs the call, whatever its task parameter says',
    },
    async ({ alice }) => {
      const session = await openSession(alice, { protocolVersion: '2025-06-18' });
      const { protocolVersion, capabilities } = session.initialized;
      mustEqual(protocolVersion, '2025-06-18', 'the negotiated version');
      must(
        objectAt(session.initialized, 'capabilities')['tasks'] === undefined,
        `tasks are declared: ${JSON.stringify(capabilities)}`,
      );
      const params = { name: 'slow_compute', arguments: { seconds: 0, label: 'older' }, task: {} };
      const result = resultOf(await session.request('tools/call', params), 'slow_compute');
      must(textOf(result).includes('computed'), `no ordinary result: ${JSON.stringify(result)}`);
    },
  ),
  defineCheck(
    {
      id: '2025-extension-key-means-nothing',
      requirements: ['G2-174'],
      title: 'the extension of 2026-07-28 makes no tasks in a session of 2025-11-25',
    },
    async ({ alice }) => {
      const capabilities = { elicitation: {}, extensions: { [TASKS_EXTENSION]: {} } };
      const session = await openSession(alice, { capabilities });
      const params = { name: 'slow_compute', arguments: { seconds: 0, label: 'extension' } };
      const result = resultOf(await session.request('tools/call', params), 'slow_compute');
      must(
        result['task'] === undefined && result['taskId'] === undefined,
        'the call became a task',
      );
      must(textOf(result).includes('computed'), `no ordinary result: ${JSON.stringify(result)}`);
    },
  ),
];
