import { expect, test } from 'vitest';
import { createPrincipal } from '../../src/identity/principal.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { ALICE, answered, settleDown, until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, moreTokens, type Kit } from './face-kit.ts';
import {
  caller2026,
  errorOf,
  isMethod,
  resultOf,
  stream,
  SUBSCRIPTION_META,
  TASKS,
  WITH_FORMS,
  WITH_TASKS,
  type Caller2026,
  type SseReader,
} from './wire.ts';

interface Scene {
  readonly kit: Kit;
  readonly url: string;
  readonly alice: Caller2026;
}

async function scene(...args: Parameters<typeof createKit>): Promise<Scene> {
  const kit = await createKit(...args);
  const { url } = await kit.http();
  return { kit, url, alice: caller2026(url, 'alice') };
}

const LISTEN = 'subscriptions/listen';
const NONE = 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA';

const listen = (
  caller: Caller2026,
  notifications: JsonObject,
  id: string | number = 'L',
): Promise<SseReader> => stream(caller.open(LISTEN, { notifications }, { id }));

const create = async (caller: Caller2026, name: string): Promise<string> =>
  String(resultOf(await caller.tool(name))['taskId']);

const statusOf = (message: JsonObject): unknown => (message['params'] as JsonObject)['status'];

verifies(
  ['G2-101', 'G2-98', 'G2-96', 'G2-102', 'G2-97'],
  'a listen is acknowledged first, then tells the state of now and every transition once, each under its name [O4]',
  async () => {
    const { alice, kit } = await scene();
    const taskId = await create(alice, 'gated');
    const events = await listen(alice, { taskIds: [taskId] }, 42);
    const messages = [await events.message(), await events.message()];
    const [ack, now] = messages;
    expect(ack).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    });
    expect(now).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId, status: 'working' },
    });
    const job = await kit.gate.next();
    const asking = job.ask([
      {
        method: 'elicitation/create',
        params: { message: '?', requestedSchema: { type: 'object' } },
      },
    ]);
    const asked = await events.message();
    expect(statusOf(asked)).toBe('input_required');
    const [key = ''] = Object.keys((asked['params'] as JsonObject)['inputRequests'] as JsonObject);
    await alice.call('tasks/update', { taskId, inputResponses: { [key]: { action: 'decline' } } });
    await asking;
    const resumed = await events.message();
    expect(statusOf(resumed)).toBe('working');
    kit.gate.end(job, answered('done'));
    const done = await events.message();
    const read = resultOf(await alice.call('tasks/get', { taskId }));
    const { resultType: _, _meta: __, ...detailed } = read;
    expect(done['params']).toMatchObject(detailed);
    const [end] = await events.rest();
    expect(end).toMatchObject({ id: 42, result: { resultType: 'complete' } });
    for (const message of [...messages, asked, resumed, done])
      expect((message['params'] as JsonObject)['_meta']).toEqual({ [SUBSCRIPTION_META]: 42 });
    expect((resultOf(end ?? {})['_meta'] as JsonObject)[SUBSCRIPTION_META]).toBe(42);
  },
);

verifies(
  'T36',
  'unknown, foreign and later vanished tasks are left out of the acknowledgement in silence',
  async () => {
    const { alice, url } = await scene();
    const mine = await create(alice, 'hangs');
    const theirs = await create(caller2026(url, 'bob'), 'hangs');
    const events = await listen(alice, { taskIds: [theirs, mine, NONE, mine] });
    expect(await events.message()).toMatchObject({
      params: { notifications: { taskIds: [mine] } },
    });
    expect(await events.message()).toMatchObject({ params: { taskId: mine } });
    await events.cancel();
  },
);

verifies('G2-105', 'a listen with nothing left to tell ends with its result', async () => {
  const { alice } = await scene();
  const events = await listen(alice, { taskIds: [NONE] });
  expect((await events.message())['params']).toMatchObject({ notifications: {} });
  expect(await events.rest()).toMatchObject([{ id: 'L', result: { resultType: 'complete' } }]);
});

verifies('T36', 'ended tasks are told once, and the listen ends after the last', async () => {
  const { alice } = await scene();
  const ids = [await create(alice, 'echo'), await create(alice, 'breaks')];
  await until(async () => {
    const tasks = await Promise.all(ids.map((taskId) => alice.call('tasks/get', { taskId })));
    return tasks.every((task) => resultOf(task)['status'] !== 'working');
  });
  const messages = await (await listen(alice, { taskIds: ids })).rest();
  expect(messages.map((message) => message['method'])).toEqual([
    'notifications/subscriptions/acknowledged',
    'notifications/tasks',
    'notifications/tasks',
    undefined,
  ]);
});

verifies(
  'G2-100',
  'task ids without the extension are -32021 with its data, and no stream',
  async () => {
    const { alice } = await scene();
    const answer = await alice.call(
      LISTEN,
      { notifications: { taskIds: [NONE] } },
      { capabilities: WITH_FORMS },
    );
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
  },
);

test('a filter that makes no sense is -32602', async () => {
  const { alice } = await scene();
  const filters = [
    undefined,
    [],
    { taskIds: 'x' },
    { taskIds: [1] },
    { toolsListChanged: 'yes' },
    { taskIds: Array.from({ length: 257 }, (_, at) => `t${at}`) },
  ];
  const answers = await Promise.all(
    filters.map((notifications) => alice.call(LISTEN, { notifications: notifications as never })),
  );
  expect(answers.map((answer) => errorOf(answer)['code'])).toEqual(filters.map(() => -32_602));
});

verifies(
  ['G2-99', 'G2-104'],
  'nothing comes that was not asked for, no progress and no log',
  async () => {
    const { alice, kit } = await scene();
    const taskId = await create(alice, 'gated');
    await create(alice, 'hangs');
    const events = await listen(alice, {
      taskIds: [taskId],
      toolsListChanged: false,
      promptsListChanged: true,
    });
    await events.message();
    await events.message();
    const job = await kit.gate.next();
    job.progress({ progress: 1 });
    job.log({ level: 'error', data: 'x' });
    kit.surface.emit({ kind: 'list_changed', list: 'tools' });
    kit.surface.emit({
      kind: 'log',
      principalKey: ALICE.key,
      params: { level: 'error', data: 'x' },
    });
    kit.surface.emit({ kind: 'resource_updated', uri: 'a:b', principalKey: ALICE.key, params: {} });
    kit.surface.emit({ kind: 'list_changed', list: 'prompts' });
    expect((await events.message())['method']).toBe('notifications/prompts/list_changed');
    kit.gate.end(job, answered('done'));
    expect(statusOf(await events.message())).toBe('completed');
    await events.cancel();
  },
);

test('list changes and resource updates come beside tasks, resources only where the upstream lets them be watched', async () => {
  const { alice, kit } = await scene();
  const events = await listen(alice, {
    toolsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['file:a', 'bad:b', 'file:a'],
  });
  expect((await events.message())['params']).toMatchObject({
    notifications: {
      toolsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['file:a'],
    },
  });
  expect(kit.surface.subscribed).toEqual(['+file:a']);
  const updated = (uri: string, key: string): void =>
    kit.surface.emit({ kind: 'resource_updated', uri, principalKey: key, params: { title: key } });
  updated('file:a', 'somebody else');
  updated('file:b', ALICE.key);
  updated('file:a', ALICE.key);
  expect(await events.message()).toMatchObject({
    method: 'notifications/resources/updated',
    params: { uri: 'file:a', title: ALICE.key, _meta: { [SUBSCRIPTION_META]: 'L' } },
  });
  await events.cancel();
  await until(() => kit.surface.subscribed.includes('-file:a'));
});

test('what the server does not declare is not accepted', async () => {
  const { alice } = await scene({ capabilities: { tools: {}, resources: {} } });
  const events = await listen(alice, { toolsListChanged: true, resourceSubscriptions: ['file:a'] });
  expect((await events.message())['params']).toMatchObject({ notifications: {} });
});

test('two listens share one subscription upstream, which ends with the last', async () => {
  const { alice, kit } = await scene();
  const both = await Promise.all(
    [1, 2].map((id) => listen(alice, { resourceSubscriptions: ['file:a'] }, id)),
  );
  await Promise.all(both.map((events) => events.message()));
  expect(kit.surface.subscribed).toEqual(['+file:a']);
  await both[0]?.cancel();
  await settleDown();
  expect(kit.surface.subscribed).toEqual(['+file:a']);
  await both[1]?.cancel();
  await until(() => kit.surface.subscribed.includes('-file:a'));
});

verifies(
  'G2-125',
  'every push is authorized anew: a task that its reader may not see any more goes silent',
  async () => {
    let mayRead = true;
    const { alice, kit } = await scene({
      receiver: (receiver) => ({
        ...receiver,
        view: async (...args) => (mayRead ? receiver.view(...args) : undefined),
      }),
    });
    const taskId = await create(alice, 'gated');
    const events = await listen(alice, { taskIds: [taskId] });
    await events.message();
    await events.message();
    mayRead = false;
    kit.gate.end(await kit.gate.next(), answered('secret'));
    const rest = await events.rest();
    expect(JSON.stringify(rest)).not.toContain('secret');
    expect(rest).toMatchObject([{ id: 'L', result: {} }]);
  },
);

verifies('T36', 'a listen ends when its credential expires', async () => {
  moreTokens.set(
    'brief',
    createPrincipal({
      issuer: 'https://login.example',
      tenant: 'acme',
      subject: 'brief',
      method: 'token',
      scopes: ['*'],
      expiresAt: Date.now() + 400,
    }),
  );
  const { url } = await scene();
  const events = await listen(caller2026(url, 'brief'), { toolsListChanged: true });
  const messages = await events.rest();
  expect(messages.map((message) => message['id'])).toEqual([undefined, 'L']);
});

verifies('G2-108', 'a quiet listen carries comments', async () => {
  const { alice } = await scene({ face: { keepAliveMs: 20 } });
  const response = await alice.open(LISTEN, { notifications: { toolsListChanged: true } });
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const events = await stream(Promise.resolve(response));
  expect(await events.comment()).toBe('keep-alive');
  await events.cancel();
});

test('a closing face ends its listens gracefully', async () => {
  const kit = await createKit();
  const { url, face } = await kit.http();
  const events = await listen(caller2026(url, 'alice'), { toolsListChanged: true });
  await events.message();
  const closing = face.close();
  expect(await events.rest()).toMatchObject([{ id: 'L', result: { resultType: 'complete' } }]);
  await closing;
});

test('a listener that cannot be asked sees working instead of a question [decision 8]', async () => {
  const { alice, url } = await scene();
  const taskId = await create(alice, 'asks');
  await until(
    async () => resultOf(await alice.call('tasks/get', { taskId }))['status'] === 'input_required',
  );
  const events = await listen(caller2026(url, 'alice', WITH_TASKS), { taskIds: [taskId] });
  const now = await events.message(isMethod('notifications/tasks'));
  expect(now['params']).toMatchObject({ status: 'working' });
  await events.cancel();
});
