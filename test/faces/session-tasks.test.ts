import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { answered, settleDown, until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, type Kit } from './face-kit.ts';
import {
  caller2025,
  caller2026,
  errorOf,
  isMethod,
  RELATED_META,
  resultOf,
  stream,
  textOf,
  type Caller2025,
} from './wire.ts';

interface Scene {
  readonly kit: Kit;
  readonly url: string;
  readonly alice: Caller2025;
}

async function scene(...args: Parameters<typeof createKit>): Promise<Scene> {
  const kit = await createKit(...args);
  const { url } = await kit.http();
  return { kit, url, alice: await caller2025(url, 'alice') };
}

const taskOf = (result: JsonObject): JsonObject => result['task'] as JsonObject;

async function create(caller: Caller2025, name: string, meta?: JsonObject): Promise<string> {
  const created = await caller.tool(name, {}, { task: {}, ...(meta ? { meta } : {}) });
  return String(taskOf(resultOf(created))['taskId']);
}

const get = async (caller: Caller2025, taskId: string): Promise<JsonObject> =>
  resultOf(await caller.call('tasks/get', { taskId }));

async function untilStatus(
  caller: Caller2025,
  taskId: string,
  status: string,
): Promise<JsonObject> {
  let task: JsonObject = {};
  await until(async () => {
    task = await get(caller, taskId);
    return task['status'] === status;
  });
  return task;
}

const metaOf = (result: JsonObject): JsonObject => (result['_meta'] ?? {}) as JsonObject;

verifies(
  ['G1-25', 'G1-26', 'G1-17', 'G1-18', 'G1-19', 'G1-20', 'G1-24'],
  'an augmented call gets its handle, nested and working',
  async () => {
    const { alice } = await scene();
    const result = resultOf(await alice.tool('hangs', {}, { task: {} }));
    const task = taskOf(result);
    expect(task).toMatchObject({ status: 'working', pollInterval: 1000 });
    expect(task['taskId']).toMatch(/^tsk_/);
    expect(task['createdAt']).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    expect(task['lastUpdatedAt']).toBe(task['createdAt']);
    expect(task['ttl']).toBeTypeOf('number');
    expect(result['content'] ?? result['resultType']).toBeUndefined();
    expect(metaOf(result)[RELATED_META]).toBeUndefined();
  },
);

verifies('G1-146', 'a text for the model comes with the handle', async () => {
  const { alice } = await scene();
  const meta = metaOf(resultOf(await alice.tool('hangs', {}, { task: {} })));
  expect(meta['io.modelcontextprotocol/model-immediate-response']).toContain('runs as a task');
});

verifies(
  ['G1-85', 'G1-86', 'G1-32', 'G1-29'],
  'the requested ttl moves what is granted, and what is granted is told',
  async () => {
    const { alice } = await scene();
    const ttl = async (task: JsonObject): Promise<number> =>
      Number(taskOf(resultOf(await alice.tool('hangs', {}, { task })))['ttl']);
    const usual = await ttl({});
    expect(await ttl({ ttl: 60_000 })).toBeLessThan(usual);
    expect(await ttl({ ttl: -5 })).toBeGreaterThan(0);
    expect(await ttl({ ttl: 1e15 })).toBeLessThanOrEqual(30 * 86_400_000);
  },
);

verifies('T15', 'params.task of the wrong shape is -32602, and nothing runs', async () => {
  const { alice, kit } = await scene();
  const wrong = [5, 'x', [], null, { ttl: '5' }, { ttl: 1.5 }, { ttl: null }];
  const answers = await Promise.all(
    wrong.map((task) =>
      alice.call('tools/call', { name: 'echo', arguments: {}, task: task as never }),
    ),
  );
  expect(answers.map((answer) => errorOf(answer)['code'])).toEqual(wrong.map(() => -32_602));
  const counts = await kit.side.store.tasks.counts();
  expect(counts.working + counts.ended).toBe(0);
});

verifies(
  ['G1-09', 'G1-12', 'G1-95', 'G1-94', 'G1-14'],
  'how a tool may be called is decided before anything runs',
  async () => {
    const { alice, kit } = await scene();
    const code = async (name: string, task?: JsonObject): Promise<unknown> =>
      errorOf(await alice.tool(name, {}, task ? { task } : {}))['code'];
    expect(await code('sync', {})).toBe(-32_601);
    expect(await code('plain', {})).toBe(-32_601);
    expect(await code('required')).toBe(-32_601);
    expect(await code('refused')).toBe(1403);
    expect(await code('refused', {})).toBe(1403);
    expect(await code('nothing', {})).toBe(-32_602);
    const counts = await kit.side.store.tasks.counts();
    expect(counts.working + counts.ended + kit.surface.forwarded.length).toBe(0);
  },
);

verifies(
  ['G1-13', 'G1-15'],
  'a revision without tasks ignores params.task and has no task methods',
  async () => {
    const { url } = await scene();
    const older = await caller2025(url, 'alice', { version: '2025-06-18' });
    expect(textOf(resultOf(await older.tool('echo', {}, { task: {} })))).toContain('echo');
    const methods = ['tasks/get', 'tasks/list', 'tasks/result', 'tasks/cancel'];
    const answers = await Promise.all(methods.map((method) => older.call(method, { taskId: 'x' })));
    expect(answers.map((answer) => errorOf(answer)['code'])).toEqual(methods.map(() => -32_601));
  },
);

verifies(
  ['G1-37', 'G1-38', 'G1-96', 'G1-35', 'G1-39', 'G1-138'],
  'tool errors and protocol errors are failed, with words, and tasks/result gives back what they were',
  async () => {
    const { alice } = await scene();
    const toolError = await create(alice, 'fails');
    expect(await untilStatus(alice, toolError, 'failed')).toMatchObject({
      statusMessage: 'no luck',
    });
    const result = resultOf(await alice.call('tasks/result', { taskId: toolError }));
    expect(result).toMatchObject({
      isError: true,
      _meta: { [RELATED_META]: { taskId: toolError } },
    });
    const broken = await create(alice, 'breaks');
    expect(await untilStatus(alice, broken, 'failed')).toMatchObject({ statusMessage: 'broken' });
    const error = errorOf(await alice.call('tasks/result', { taskId: broken }));
    expect(error).toEqual({ code: -32_055, message: 'broken', data: { why: 'test' } });
  },
);

verifies(
  ['G1-36', 'G1-40', 'G1-33'],
  'tasks/result begins its stream at once, says that it lives, and blocks until the end',
  async () => {
    const { alice, kit } = await scene({ face: { keepAliveMs: 25 } });
    const taskId = await create(alice, 'gated');
    const events = await stream(alice.open('tasks/result', { taskId }, { id: 'r' }));
    expect((await events.event()).data).toBe('');
    expect(await events.comment()).toBe('keep-alive');
    kit.gate.end(await kit.gate.next(), answered('done'));
    const [answer] = await events.rest();
    expect(answer).toMatchObject({ id: 'r' });
    expect(resultOf(answer ?? {})).toMatchObject({ _meta: { [RELATED_META]: { taskId } } });
  },
);

test('leaving tasks/result is no cancel, and others go on waiting', async () => {
  const { alice, kit } = await scene();
  const taskId = await create(alice, 'gated');
  const [first, second] = await Promise.all(
    [1, 2].map(() => stream(alice.open('tasks/result', { taskId }))),
  );
  await first?.cancel();
  await settleDown();
  expect((await get(alice, taskId))['status']).toBe('working');
  kit.gate.end(await kit.gate.next(), answered('done'));
  expect(await second?.rest()).toHaveLength(1);
});

verifies(
  ['G1-68', 'G1-66', 'G1-92', 'G1-69', 'G1-67', 'G1-70'],
  'cancel ends the record before its answer, wakes who waits, and is refused afterwards',
  async () => {
    const { alice, kit } = await scene();
    const taskId = await create(alice, 'gated');
    const events = await stream(alice.open('tasks/result', { taskId }));
    const job = await kit.gate.next();
    const cancelled = resultOf(await alice.call('tasks/cancel', { taskId }));
    expect(cancelled).toMatchObject({ taskId, status: 'cancelled' });
    expect(metaOf(cancelled)[RELATED_META]).toBeUndefined();
    const [answer] = await events.rest();
    expect(errorOf(answer ?? {})).toMatchObject({
      code: -32_603,
      data: { taskId, status: 'cancelled' },
    });
    await until(() => job.signal.aborted);
    expect((await get(alice, taskId))['status']).toBe('cancelled');
    expect(errorOf(await alice.call('tasks/cancel', { taskId }))['code']).toBe(-32_602);
    expect(errorOf(await alice.call('tasks/result', { taskId }))['code']).toBe(-32_603);
  },
);

verifies(
  ['G1-90', 'G1-100', 'G1-99'],
  'unknown, malformed and foreign ids are one answer, byte for byte',
  async () => {
    const { alice, url } = await scene();
    const taskId = await create(alice, 'hangs');
    const strangers = await Promise.all(['bob', 'carol'].map((token) => caller2025(url, token)));
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const answers = await Promise.all(
        strangers.flatMap((stranger) =>
          [taskId, 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA', 'x'].map((id) =>
            stranger.call(method, { taskId: id }, { id: 1 }),
          ),
        ),
      );
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(errorOf(answers[0] ?? { body: {} })['code']).toBe(-32_602);
    }
    expect(errorOf(await alice.call('tasks/get', {}))['code']).toBe(-32_602);
    expect((await get(alice, taskId))['status']).toBe('working');
  },
);

verifies(
  ['G1-75', 'G1-76', 'G1-77', 'G1-78', 'G1-79', 'G1-91'],
  'the list has every task of its caller and nobody else, page by page',
  async () => {
    const { alice, url } = await scene();
    const bob = await caller2025(url, 'bob');
    await create(bob, 'hangs');
    const ids: string[] = [];
    for (let count = 0; count < 53; count += 1) ids.push(await create(alice, 'hangs'));
    const first = resultOf(await alice.call('tasks/list'));
    const second = resultOf(await alice.call('tasks/list', { cursor: first['nextCursor'] }));
    const listed = [first, second].flatMap(({ tasks }) => tasks as readonly JsonObject[]);
    expect(listed).toHaveLength(ids.length);
    expect(new Set(listed.map((task) => task['taskId']))).toEqual(new Set(ids));
    expect(second['nextCursor']).toBeUndefined();
    expect(metaOf(first)[RELATED_META]).toBeUndefined();
    const refused = await Promise.all([
      alice.call('tasks/list', { cursor: 'nonsense' }),
      alice.call('tasks/list', { cursor: 5 }),
      bob.call('tasks/list', { cursor: first['nextCursor'] }),
    ]);
    expect(refused.map((answer) => errorOf(answer)['code'])).toEqual([-32_602, -32_602, -32_602]);
  },
);

test('a task is in the list the moment its handle has left, and plain calls never are', async () => {
  const { alice } = await scene();
  await alice.tool('echo');
  for (let count = 0; count < 10; count += 1) {
    const taskId = await create(alice, 'hangs');
    const { tasks } = resultOf(await alice.call('tasks/list'));
    expect((tasks as readonly JsonObject[])[0]?.['taskId']).toBe(taskId);
    expect(tasks).toHaveLength(count + 1);
  }
});

verifies(
  ['G1-136', 'G1-137'],
  'related-task metadata of a request has no effect, and answers of task methods carry none',
  async () => {
    const { alice } = await scene();
    const [mine, other] = [await create(alice, 'hangs'), await create(alice, 'echo')];
    const meta = { [RELATED_META]: { taskId: other } };
    const read = resultOf(await alice.call('tasks/get', { taskId: mine }, { meta }));
    expect(read['taskId']).toBe(mine);
    expect(read['_meta']).toBeUndefined();
  },
);

verifies(
  'T12',
  'the same person in a new session finds what the old one left; nobody else does',
  async () => {
    const { alice, url, kit } = await scene();
    const taskId = await create(alice, 'gated');
    await fetch(url, { method: 'DELETE', headers: alice.headers });
    const again = await caller2025(url, 'alice');
    expect((await get(again, taskId))['status']).toBe('working');
    kit.gate.end(await kit.gate.next(), answered('kept'));
    await untilStatus(again, taskId, 'completed');
    expect(textOf(resultOf(await again.call('tasks/result', { taskId })))).toContain('kept');
  },
);

verifies(
  ['G1-81', 'G1-83', 'G1-84'],
  'each change is told once on the GET stream of each session of its owner, none after the end [O4]',
  async () => {
    const { alice, url, kit } = await scene();
    const bob = await caller2025(url, 'bob');
    const [mine, theirs] = [await alice.listen(), await bob.listen()];
    const taskId = await create(alice, 'gated');
    const job = await kit.gate.next();
    job.status('half way');
    const isStatus = isMethod('notifications/tasks/status');
    const half = await mine.message(
      (message) => isStatus(message) && JSON.stringify(message).includes('half way'),
    );
    expect(half['params']).toMatchObject({ taskId, status: 'working', statusMessage: 'half way' });
    kit.gate.end(job, answered('done'));
    const done = await mine.message(isStatus);
    expect(done['params']).toMatchObject({ taskId, status: 'completed' });
    expect(JSON.stringify([half, done])).not.toContain('related-task');
    kit.surface.emit({ kind: 'list_changed', list: 'tools' });
    expect(await mine.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect(await theirs.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
    await Promise.all([mine.cancel(), theirs.cancel()]);
  },
);

test('a change that its reader cannot see is not told: a second question answered is no second question asked', async () => {
  const { alice } = await scene();
  const events = await alice.listen();
  await create(alice, 'asks_two');
  const statuses: unknown[] = [];
  while (statuses.at(-1) !== 'completed') {
    const message = await events.message();
    if (isMethod('elicitation/create')(message))
      await alice.respond(message, { action: 'accept', content: { ok: true } });
    if (isMethod('notifications/tasks/status')(message))
      statuses.push((message['params'] as JsonObject)['status']);
  }
  expect(statuses).toEqual(['input_required', 'working', 'completed']);
  await events.cancel();
});

test('an end that comes while the handle is being recorded is told once', async () => {
  const release = createDeferred<void>();
  const { alice, kit } = await scene({
    receiver: (receiver) => ({
      ...receiver,
      handleGiven: (taskId) => release.promise.then(() => receiver.handleGiven(taskId)),
    }),
  });
  const events = await alice.listen();
  const taskId = await create(alice, 'gated');
  kit.gate.end(await kit.gate.next(), answered('done'));
  const isStatus = isMethod('notifications/tasks/status');
  expect((await events.message(isStatus))['params']).toMatchObject({ status: 'completed' });
  release.resolve();
  await until(async () => {
    const task = await kit.side.store.tasks.get('system', taskId);
    return task?.handle === 'given';
  });
  await settleDown();
  kit.surface.emit({ kind: 'list_changed', list: 'tools' });
  expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
  await events.cancel();
});

test('a plain call is nobody to hear of on a GET stream', async () => {
  const { alice, kit } = await scene();
  const events = await alice.listen();
  await alice.tool('echo');
  await alice.tool('fails');
  kit.surface.emit({ kind: 'list_changed', list: 'tools' });
  expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
  await events.cancel();
});

verifies(
  ['G1-140', 'G1-141', 'G1-142', 'G1-143', 'G1-134'],
  'progress keeps its token after the handle: on tasks/result, else on GET, growing, until the end',
  async () => {
    const { alice, kit } = await scene();
    const get1 = await alice.listen();
    const taskId = await create(alice, 'gated', { progressToken: 'tok' });
    const job = await kit.gate.next();
    const isProgress = isMethod('notifications/progress');
    job.progress({ progress: 1 });
    const onGet = await get1.message(isProgress);
    expect(onGet['params']).toEqual({
      progress: 1,
      progressToken: 'tok',
      _meta: { [RELATED_META]: { taskId } },
    });
    const events = await stream(alice.open('tasks/result', { taskId }));
    await events.event();
    job.progress({ progress: 1 });
    job.progress({ progress: 2 });
    job.log({ level: 'info', data: 'x' });
    const messages = [await events.message(), await events.message()];
    expect(messages.map((message) => message['params'])).toEqual([
      { progress: 2, progressToken: 'tok', _meta: { [RELATED_META]: { taskId } } },
      { level: 'info', data: 'x', _meta: { [RELATED_META]: { taskId } } },
    ]);
    kit.gate.end(job, answered('done'));
    await events.rest();
    job.progress({ progress: 3 });
    kit.surface.emit({ kind: 'list_changed', list: 'tools' });
    const after = await get1.message((message) => !isMethod('notifications/tasks/status')(message));
    expect(after).toMatchObject({ method: 'notifications/tools/list_changed' });
    await get1.cancel();
  },
);

test('anonymous callers hear of a task only once they have named it', async () => {
  const kit = await createKit({ allowAnonymous: true });
  const { url } = await kit.http();
  const [one, two] = await Promise.all([caller2025(url, undefined), caller2025(url, undefined)]);
  const [mine, theirs] = await Promise.all([one.listen(), two.listen()]);
  const taskId = await create(one, 'gated');
  kit.gate.end(await kit.gate.next(), answered('done'));
  const told = await mine.message((message) => JSON.stringify(message).includes('completed'));
  expect(told['params']).toMatchObject({ taskId });
  kit.surface.emit({ kind: 'list_changed', list: 'tools' });
  expect(await theirs.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
  expect((await get(two, taskId))['status']).toBe('completed');
  await Promise.all([mine.cancel(), theirs.cancel()]);
});

test('a handle that was never written stays pending, and its task runs on [decision 1]', async () => {
  const disconnected = createDeferred<void>();
  const kit = await createKit({
    receiver: (receiver) => ({
      ...receiver,
      async start(call) {
        const started = await receiver.start(call);
        await disconnected.promise;
        return started;
      },
    }),
  });
  const { url, server } = await kit.http();
  const alice = await caller2025(url, 'alice');
  server.once('request', (_req, res: ServerResponse) => res.once('close', disconnected.resolve));
  const left = new AbortController();
  const call = alice.open('tools/call', { name: 'gated', task: {} }, { signal: left.signal });
  const job = await kit.gate.next();
  left.abort();
  await expect(call).rejects.toThrow('aborted');
  kit.gate.end(job, answered('done'));
  await kit.side.outcome(job.task);
  await disconnected.promise;
  expect(kit.calls).toEqual([]);
  expect((await kit.side.row(job.task)).handle).toBe('pending');
  expect((await get(alice, job.task.id))['status']).toBe('completed');
});

verifies(
  'T38',
  'the same task is read, answered and cancelled from the other generation by the same person',
  async () => {
    const { alice, url, kit } = await scene();
    const modern = caller2026(url, 'alice');
    const old = await create(alice, 'asks');
    const asked = resultOf(await modern.call('tasks/get', { taskId: old }));
    await until(
      async () =>
        resultOf(await modern.call('tasks/get', { taskId: old }))['status'] === 'input_required',
    );
    expect(asked['resultType']).toBe('complete');
    const inputs = resultOf(await modern.call('tasks/get', { taskId: old }))[
      'inputRequests'
    ] as JsonObject;
    const [key = ''] = Object.keys(inputs);
    const answer = { action: 'accept', content: { ok: true } };
    await modern.call('tasks/update', { taskId: old, inputResponses: { [key]: answer } });
    await untilStatus(alice, old, 'completed');
    const young = String(resultOf(await modern.tool('gated'))['taskId']);
    expect((await get(alice, young))['status']).toBe('working');
    await kit.gate.next();
    expect(resultOf(await alice.call('tasks/cancel', { taskId: young }))['status']).toBe(
      'cancelled',
    );
    expect(resultOf(await modern.call('tasks/get', { taskId: young }))['status']).toBe('cancelled');
    const third = String(resultOf(await modern.tool('fails'))['taskId']);
    await untilStatus(alice, third, 'failed');
    expect(resultOf(await modern.call('tasks/get', { taskId: third }))['status']).toBe('completed');
  },
);

verifies(
  'G2-176',
  'who declares the old tasks alone goes on with what it created under them, in their shape',
  async () => {
    const { alice, url } = await scene();
    const legacy = caller2026(url, 'alice', { tasks: { cancel: {} } });
    const taskId = await create(alice, 'hangs');
    const read = resultOf(await legacy.call('tasks/get', { taskId }));
    expect(read).toMatchObject({ taskId, status: 'working', resultType: 'complete' });
    expect(read['ttl']).toBeTypeOf('number');
    expect(read['ttlMs']).toBeUndefined();
    const cancelled = resultOf(await legacy.call('tasks/cancel', { taskId }));
    expect(cancelled).toMatchObject({ status: 'cancelled', resultType: 'complete' });
    const young = resultOf(await caller2026(url, 'alice').tool('hangs'))['taskId'];
    expect(errorOf(await legacy.call('tasks/get', { taskId: young }))['code']).toBe(-32_021);
    const foreign = caller2026(url, 'bob', { tasks: {} });
    expect(errorOf(await foreign.call('tasks/get', { taskId }))['code']).toBe(-32_021);
  },
);
