import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, tool, type Kit } from './face-kit.ts';
import {
  caller2026,
  errorOf,
  resultOf,
  SERVER_INFO_META,
  TASKS,
  textOf,
  WITH_ALL,
  WITH_FORMS,
  WITH_TASKS,
  type Caller2026,
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

async function create(caller: Caller2026, name: string, args: JsonObject = {}): Promise<string> {
  return String(resultOf(await caller.tool(name, args))['taskId']);
}

const get = async (caller: Caller2026, taskId: string): Promise<JsonObject> =>
  resultOf(await caller.call('tasks/get', { taskId }));

async function untilStatus(
  caller: Caller2026,
  taskId: string,
  status: string,
): Promise<JsonObject> {
  let task = await get(caller, taskId);
  await until(async () => {
    task = await get(caller, taskId);
    return task['status'] === status;
  });
  return task;
}

verifies(
  ['G2-01', 'G2-13', 'G2-177', 'G2-15', 'G2-154'],
  'discovery names the extension and never tasks, with its freshness',
  async () => {
    const { alice } = await scene();
    const result = resultOf(await alice.call('server/discover'));
    expect(result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      resultType: 'complete',
      cacheScope: 'private',
      instructions: 'a test',
      _meta: { [SERVER_INFO_META]: { name: 'longcall' } },
    });
    expect(result['ttlMs']).toSatisfy((ttl: number) => Number.isInteger(ttl) && ttl >= 0);
    const capabilities = result['capabilities'] as JsonObject;
    expect(capabilities['extensions']).toEqual({ [TASKS]: {}, 'com.example/other': { a: 1 } });
    expect(capabilities['tasks']).toBeUndefined();
  },
);

verifies('G2-07', 'tools are listed without execution, and refused ones not at all', async () => {
  const execution = { taskSupport: 'required' };
  const definition = { name: 'x', inputSchema: { type: 'object' }, execution, 'x-other': 1 };
  const { alice } = await scene({
    tools: [tool('shown', { definition }), tool('hidden', { mode: 'refuse' })],
  });
  const result = resultOf(await alice.call('tools/list'));
  expect(result['tools']).toEqual([
    { name: 'shown', inputSchema: { type: 'object' }, 'x-other': 1 },
  ]);
  expect(result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
});

verifies(
  ['G2-26', 'G2-20', 'G2-109', 'G2-18', 'G2-21'],
  'a handle is flat, of type task, and has the required fields only',
  async () => {
    const { alice } = await scene();
    const result = resultOf(await alice.tool('hangs'));
    expect(result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 1000 });
    expect(result['taskId']).toMatch(/^tsk_[A-Za-z0-9_-]{27}$/);
    expect(result['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(result['ttlMs']).toSatisfy((ttl: number) => Number.isInteger(ttl) && ttl > 0);
    for (const member of ['task', 'result', 'error', 'inputRequests', 'requestState', 'content'])
      expect(result[member]).toBeUndefined();
  },
);

verifies(['G2-27', 'G2-28'], 'the handle resolves the moment it has left', async () => {
  const { alice } = await scene();
  const ids = await Promise.all(Array.from({ length: 20 }, () => create(alice, 'hangs')));
  expect(new Set(ids).size).toBe(20);
  const found = await Promise.all(ids.map((id) => get(alice, id)));
  expect(found.map((task) => task['taskId'])).toEqual(ids);
});

verifies(
  ['G2-38', 'G2-39', 'G2-41', 'G2-45', 'G2-40'],
  'tasks/get answers the variant of the status',
  async () => {
    const { alice } = await scene();
    const working = await get(alice, await create(alice, 'hangs'));
    expect(working).toMatchObject({ resultType: 'complete', status: 'working' });
    expect(working['result'] ?? working['inputRequests'] ?? working['error']).toBeUndefined();
    const done = await untilStatus(alice, await create(alice, 'echo', { a: 1 }), 'completed');
    expect(done['result']).toMatchObject({ resultType: 'complete' });
    expect(textOf(done['result'] as JsonObject)).toContain('echo');
    expect(JSON.stringify(done)).not.toContain('related-task');
    expect(await get(alice, String(done['taskId']))).toEqual(done);
  },
);

verifies(
  ['G2-43', 'G2-44', 'G2-118'],
  'a tool error is completed, a protocol error failed with its error and words',
  async () => {
    const { alice } = await scene();
    const toolError = await untilStatus(alice, await create(alice, 'fails'), 'completed');
    expect(toolError['result']).toMatchObject({ isError: true });
    const failed = await untilStatus(alice, await create(alice, 'breaks'), 'failed');
    expect(failed['error']).toEqual({ code: -32_603, message: 'broken', data: { why: 'test' } });
    expect(failed['statusMessage']).toBe('broken');
    expect(failed['result']).toBeUndefined();
  },
);

verifies(
  ['G2-47', 'G2-49', 'G2-56', 'G2-57', 'G2-55'],
  'questions are all there at once, answered in parts, and gone from the very next read',
  async () => {
    const { alice } = await scene();
    const taskId = await create(alice, 'asks_two');
    const asked = await untilStatus(alice, taskId, 'input_required');
    const [first = '', second = ''] = Object.keys(asked['inputRequests'] as JsonObject);
    expect(asked['inputRequests']).toMatchObject({
      [first]: { method: 'elicitation/create', params: { message: 'first?' } },
      [second]: { method: 'elicitation/create', params: { message: 'second?' } },
    });
    const answer = { action: 'accept', content: { ok: true } };
    const ack = resultOf(
      await alice.call('tasks/update', { taskId, inputResponses: { [first]: answer } }),
    );
    expect(Object.keys(ack).toSorted()).toEqual(['_meta', 'resultType']);
    const left = await get(alice, taskId);
    expect(left['status']).toBe('input_required');
    expect(Object.keys(left['inputRequests'] as JsonObject)).toEqual([second]);
    await alice.call('tasks/update', { taskId, inputResponses: { [second]: answer } });
    await untilStatus(alice, taskId, 'completed');
  },
);

verifies('G2-54', 'keys that are not open are ignored and acknowledged', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks');
  const answer = { action: 'accept', content: { ok: true } };
  const update = async (inputResponses: JsonObject): Promise<unknown> =>
    resultOf(await alice.call('tasks/update', { taskId, inputResponses }))['resultType'];
  await untilStatus(alice, taskId, 'input_required');
  expect(await update({})).toBe('complete');
  expect(await update({ in_never: answer, other: { result: 1 } })).toBe('complete');
  expect((await get(alice, taskId))['status']).toBe('input_required');
});

verifies(
  'T28',
  'a value that cannot be an answer to a live key is -32602, and nothing is consumed',
  async () => {
    const { alice } = await scene();
    const taskId = await create(alice, 'asks_two');
    const asked = await untilStatus(alice, taskId, 'input_required');
    const [first = '', second = ''] = Object.keys(asked['inputRequests'] as JsonObject);
    const good = { action: 'accept', content: { ok: true } };
    const malformed: readonly (JsonObject | string | number | null)[] = [
      'accept',
      5,
      null,
      { method: 'elicitation/create', params: good },
      { result: good },
      { action: 'maybe' },
      { action: 'accept', content: { ok: 'yes' } },
    ];
    const answers = await Promise.all(
      malformed.map((value) =>
        alice.call('tasks/update', { taskId, inputResponses: { [second]: good, [first]: value } }),
      ),
    );
    for (const answer of answers) expect(errorOf(answer)['code']).toBe(-32_602);
    const after = await get(alice, taskId);
    expect(Object.keys(after['inputRequests'] as JsonObject)).toEqual([first, second]);
    const shapes = await Promise.all(
      [undefined, [], 'x'].map((inputResponses) =>
        alice.call('tasks/update', { taskId, inputResponses: inputResponses as never }),
      ),
    );
    for (const answer of shapes) expect(errorOf(answer)['code']).toBe(-32_602);
  },
);

verifies(
  ['G2-87', 'G2-85', 'G2-88', 'G2-84'],
  'tasks/cancel is acknowledged without task fields, again and on ended tasks too',
  async () => {
    const { alice } = await scene();
    const taskId = await create(alice, 'hangs');
    const cancel = async (): Promise<JsonObject> =>
      resultOf(await alice.call('tasks/cancel', { taskId }));
    expect(Object.keys(await cancel()).toSorted()).toEqual(['_meta', 'resultType']);
    const cancelled = await untilStatus(alice, taskId, 'cancelled');
    expect(cancelled['result'] ?? cancelled['error']).toBeUndefined();
    expect(await cancel()).toMatchObject({ resultType: 'complete' });
    expect(await get(alice, taskId)).toEqual(cancelled);
  },
);

verifies(
  ['G2-114', 'G2-89', 'G2-125'],
  'unknown, malformed and foreign ids are one answer, byte for byte',
  async () => {
    const { alice, url } = await scene();
    const taskId = await create(alice, 'asks');
    await untilStatus(alice, taskId, 'input_required');
    const strangers = ['bob', 'carol'].map((token) => caller2026(url, token));
    const ids = [taskId, 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA', 'nonsense', ''];
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answers = await Promise.all(
        strangers.flatMap((stranger) =>
          ids.map((id) => stranger.call(method, { taskId: id, inputResponses: {} }, { id: 9 })),
        ),
      );
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(errorOf(answers[0] ?? { body: {} })['code']).toBe(-32_602);
      expect(answers[0]?.status).toBe(200);
    }
    expect((await get(alice, taskId))['status']).toBe('input_required');
  },
);

verifies('G2-04', 'what one request declares is good for that request alone', async () => {
  const { alice } = await scene();
  expect(resultOf(await alice.tool('echo'))['resultType']).toBe('task');
  const plain = resultOf(await alice.tool('echo', {}, { capabilities: WITH_FORMS }));
  expect(plain).toMatchObject({ resultType: 'complete' });
  expect(plain['taskId']).toBeUndefined();
});

verifies(['G2-09', 'G2-06', 'G2-29'], 'params.task is no wish: the server decides', async () => {
  const { alice } = await scene();
  const params = { name: 'sync', arguments: {}, task: { ttl: 5 } };
  const plain = resultOf(await alice.call('tools/call', params));
  expect(plain['resultType']).toBe('complete');
  const undeclared = await alice.call(
    'tools/call',
    { ...params, name: 'echo' },
    { capabilities: {} },
  );
  expect(resultOf(undeclared)['taskId']).toBeUndefined();
});

verifies('G2-05', 'a tool that must be a task says so to who cannot take one', async () => {
  const { alice, kit } = await scene();
  const answer = await alice.tool('required', {}, { capabilities: WITH_FORMS });
  expect(answer.status).toBe(400);
  expect(errorOf(answer)).toMatchObject({ code: -32_021 });
  expect((await kit.side.store.tasks.counts()).ended).toBe(0);
});

verifies('G2-119', 'an unknown tool is -32602, arguments of the wrong type too', async () => {
  const { alice } = await scene();
  expect(errorOf(await alice.tool('nothing'))['code']).toBe(-32_602);
  const wrong = await alice.call('tools/call', { name: 'echo', arguments: [1] });
  expect(errorOf(wrong)['code']).toBe(-32_602);
});

test('policy refuses with its own code and a remedy', async () => {
  const { alice } = await scene();
  const error = errorOf(await alice.tool('refused'));
  expect(error).toMatchObject({ code: 1403, data: { reason: 'policy' } });
  expect((error['data'] as JsonObject)['remedy']).toContain('operator');
});

verifies(
  'G2-124',
  'too much at once is refused under a code of ours, with a hint when to come again',
  async () => {
    const { alice } = await scene({ open: 1 });
    await create(alice, 'hangs');
    const error = errorOf(await alice.tool('hangs'));
    expect(error).toMatchObject({ code: 1429, data: { reason: 'capacity' } });
    expect((error['data'] as JsonObject)['retryAfterMs']).toBeGreaterThan(0);
  },
);

verifies(
  'G2-115',
  'what goes wrong inside is -32603 with an id for the log, and nothing else',
  async () => {
    const lines: string[] = [];
    const note = (event: string, fields: object = {}): void =>
      void lines.push(`${event} ${JSON.stringify(fields)}`);
    const { alice } = await scene({
      logger: { debug: note, info: note, warn: note, error: note },
      receiver: (receiver) => ({
        ...receiver,
        view: () => Promise.reject(new Error('SELECT secret FROM password')),
      }),
    });
    const answer = await alice.call('tasks/get', { taskId: 'tsk_x' });
    const error = errorOf(answer);
    expect(error).toMatchObject({ code: -32_603, message: 'internal error' });
    expect(answer.text).not.toContain('secret');
    const { errorId } = error['data'] as { errorId: string };
    expect(lines.find((line) => line.includes(errorId))).toContain('SELECT secret');
  },
);

test('a reader that cannot be asked sees working and why, one that can sees the question [decision 8]', async () => {
  const { alice } = await scene();
  const taskId = await create(alice, 'asks');
  await untilStatus(alice, taskId, 'input_required');
  const blind = resultOf(await alice.call('tasks/get', { taskId }, { capabilities: WITH_TASKS }));
  expect(blind['status']).toBe('working');
  expect(blind['statusMessage']).toContain('waiting for an answer');
  expect(blind['inputRequests']).toBeUndefined();
  const seeing = resultOf(await alice.call('tasks/get', { taskId }, { capabilities: WITH_ALL }));
  expect(seeing['status']).toBe('input_required');
});
