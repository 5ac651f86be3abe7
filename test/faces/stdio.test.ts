import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createStdioFace } from '../../src/faces/mcp/stdio-face.ts';
import { localPrincipal } from '../../src/identity/principal.ts';
import { isJsonObject, type JsonObject } from '../../src/kernel/json.ts';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { answered, settleDown, until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, tool, type Kit, type StdioSide } from './face-kit.ts';
import {
  CAPABILITIES_META,
  errorOf,
  isMethod,
  nextId,
  RELATED_META,
  resultOf,
  SUBSCRIPTION_META,
  textOf,
  VERSION_META,
  WITH_ALL,
  WITH_FORMS,
} from './wire.ts';

interface Scene extends StdioSide {
  readonly kit: Kit;
  /** Sends a request and waits for its answer; what comes between is dropped. */
  call(method: string, params?: JsonObject, id?: number | string): Promise<JsonObject>;
  modern(method: string, params?: JsonObject, id?: number | string): Promise<JsonObject>;
  open(method: string, params: JsonObject, id: number | string): void;
  initialize(version?: string): Promise<JsonObject>;
}

const ENVELOPE = { [VERSION_META]: '2026-07-28', [CAPABILITIES_META]: WITH_ALL };

async function scene(...args: Parameters<typeof createKit>): Promise<Scene> {
  const kit = await createKit(...args);
  const side = kit.stdio();
  const call: Scene['call'] = (method, params = {}, id = nextId()) => {
    side.send({ jsonrpc: '2.0', id, method, params });
    return side.next((message) => message['id'] === id && message['method'] === undefined);
  };
  return {
    ...side,
    kit,
    call,
    modern: (method, params = {}, id = nextId()) =>
      call(method, { ...params, _meta: ENVELOPE }, id),
    open: (method, params, id) =>
      side.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: ENVELOPE } }),
    async initialize(protocolVersion = '2025-11-25') {
      const clientInfo = { name: 't', version: '1' };
      const answer = await call('initialize', {
        protocolVersion,
        capabilities: WITH_FORMS,
        clientInfo,
      });
      side.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return resultOf(answer);
    },
  };
}

const YES = { action: 'accept', content: { ok: true } };

verifies(['G2-179', 'G2-181'], 'one pipe speaks both generations, request by request', async () => {
  const { modern, initialize, call } = await scene();
  expect(resultOf(await modern('server/discover'))).toMatchObject({
    supportedVersions: ['2026-07-28'],
  });
  expect(await initialize()).toMatchObject({ protocolVersion: '2025-11-25' });
  expect(JSON.stringify(resultOf(await call('tools/list')))).toContain('execution');
  expect(JSON.stringify(resultOf(await modern('tools/list')))).not.toContain('execution');
});

test('before initialize a session is asked for, and a probe without its _meta is told what is missing', async () => {
  const { call } = await scene();
  expect(resultOf(await call('ping'))).toEqual({});
  expect(errorOf(await call('tools/list'))['code']).toBe(-32_600);
  expect(errorOf(await call('server/discover'))['code']).toBe(-32_602);
  const old = { _meta: { [VERSION_META]: '2025-11-25', [CAPABILITIES_META]: {} } };
  expect(errorOf(await call('server/discover', old))).toMatchObject({
    code: -32_022,
    data: { supported: ['2026-07-28'], requested: '2025-11-25' },
  });
});

test('a task of 2026-07-28 lives its life over a pipe', async () => {
  const { modern } = await scene();
  const taskId = resultOf(await modern('tools/call', { name: 'asks' }))['taskId'];
  let task: JsonObject = {};
  await until(async () => {
    task = resultOf(await modern('tasks/get', { taskId }));
    return task['status'] === 'input_required';
  });
  const [key = ''] = Object.keys(task['inputRequests'] as JsonObject);
  await modern('tasks/update', { taskId, inputResponses: { [key]: YES } });
  await until(
    async () => resultOf(await modern('tasks/get', { taskId }))['status'] === 'completed',
  );
  expect(errorOf(await modern('tasks/result', { taskId }))['code']).toBe(-32_601);
});

test('a session lives its life over a pipe: task, question, result, list, cancel', async () => {
  const { call, initialize, send, next } = await scene();
  await initialize();
  const created = resultOf(await call('tools/call', { name: 'asks', arguments: {}, task: {} }));
  const { taskId } = created['task'] as JsonObject;
  send({ jsonrpc: '2.0', id: 'r', method: 'tasks/result', params: { taskId } });
  const question = await next(isMethod('elicitation/create'));
  expect((question['params'] as JsonObject)['_meta']).toMatchObject({ [RELATED_META]: { taskId } });
  send({ jsonrpc: '2.0', id: question['id'], result: YES });
  const result = resultOf(await next((message) => message['id'] === 'r'));
  expect(textOf(result)).toContain('accept');
  expect(resultOf(await call('tasks/list'))['tasks']).toHaveLength(1);
  expect(errorOf(await call('tasks/cancel', { taskId }))['code']).toBe(-32_602);
});

test('status and progress of a task come over the pipe', async () => {
  const { call, initialize, next, kit } = await scene();
  await initialize();
  const params = { name: 'gated', arguments: {}, task: {}, _meta: { progressToken: 'p' } };
  await call('tools/call', params);
  const job = await kit.gate.next();
  job.progress({ progress: 1 });
  expect(await next(isMethod('notifications/progress'))).toMatchObject({ params: { progress: 1 } });
  kit.gate.end(job, answered('done'));
  const status = await next(isMethod('notifications/tasks/status'));
  expect(status).toMatchObject({ params: { status: 'completed' } });
});

verifies(
  ['G2-92', 'G2-93'],
  'notifications/cancelled stops a request of 2026-07-28, and it gets no answer',
  async () => {
    const { open, send, modern, kit, lines } = await scene({
      tools: [tool('gated', { mode: 'sync' })],
    });
    open('tools/call', { name: 'gated' }, 'c');
    const job = await kit.gate.next();
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
    await until(() => kit.calls.some((call) => call.startsWith(`abandon ${job.task.id}`)));
    await modern('server/discover');
    expect(lines.some((line) => line.includes('"id":"c"'))).toBe(false);
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
    expect(resultOf(await modern('server/discover'))).toBeDefined();
  },
);

test('an answer that comes after its request was cancelled is not written', async () => {
  const release = createDeferred<void>();
  const { open, send, modern, lines } = await scene({
    receiver: (receiver) => ({
      ...receiver,
      view: (...args) => release.promise.then(() => receiver.view(...args)),
    }),
  });
  open('tasks/get', { taskId: 'tsk_x' }, 'c');
  await modern('server/discover');
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
  await modern('server/discover');
  release.resolve();
  await settleDown();
  expect(lines.filter((line) => line.includes('"id":"c"'))).toEqual([]);
});

test('notifications/cancelled stops a plain call of a session', async () => {
  const { send, call, initialize, kit, lines } = await scene({
    tools: [tool('gated', { mode: 'sync' })],
  });
  await initialize();
  send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'gated' } });
  const job = await kit.gate.next();
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
  await until(() => kit.calls.includes(`abandon ${job.task.id} stop`));
  await call('ping');
  expect(lines.some((line) => line.includes('"id":"c"'))).toBe(false);
});

verifies(
  ['G2-106', 'G2-94', 'G2-101', 'G2-102'],
  'a listen works over a pipe, and ends with a cancel of it and its result',
  async () => {
    const { open, modern, next, kit } = await scene();
    const taskId = String(resultOf(await modern('tools/call', { name: 'gated' }))['taskId']);
    open(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId], toolsListChanged: false } },
      'L',
    );
    const subscription = { _meta: { [SUBSCRIPTION_META]: 'L' } };
    const ack = await next();
    expect(ack).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] }, ...subscription },
    });
    expect(await next()).toMatchObject({ params: { status: 'working', ...subscription } });
    kit.gate.end(await kit.gate.next(), answered('done'));
    expect(await next()).toMatchObject({ params: { status: 'completed', ...subscription } });
    expect(await next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 'L' },
    });
    expect(await next()).toMatchObject({ id: 'L', result: { resultType: 'complete' } });
  },
);

test('a listen that its caller cancels tells nothing more', async () => {
  const { open, send, next, modern, kit, lines } = await scene();
  open('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'L');
  await next(isMethod('notifications/subscriptions/acknowledged'));
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'L' } });
  await modern('server/discover');
  kit.surface.emit({ kind: 'list_changed', list: 'tools' });
  await modern('server/discover');
  expect(lines.filter((line) => line.includes('list_changed'))).toEqual([]);
  expect(lines.filter((line) => line.includes('"id":"L"'))).toEqual([]);
});

const BROKEN: readonly (readonly [line: string, code: number, id: unknown])[] = [
  ['{', -32_700, null],
  ['nonsense', -32_700, null],
  ['[]', -32_600, null],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600, null],
  ['1', -32_600, null],
  ['{"jsonrpc":"2.0","id":8}', -32_600, null],
  ['{"jsonrpc":"2.0","id":8,"method":"ping","params":[]}', -32_600, 8],
  [
    `{"jsonrpc":"2.0","id":8,"method":"ping","params":${'{"a":'.repeat(80)}1${'}'.repeat(80)}}`,
    -32_600,
    8,
  ],
  [`"${'x'.repeat(70_000)}"`, -32_600, null],
];

test.each(BROKEN)(
  'the line %.30s is answered with %d, and the next one is read',
  async (line, code, id) => {
    const { send, next, call } = await scene();
    send(line);
    expect(await next()).toMatchObject({ id, error: { code } });
    expect(resultOf(await call('ping'))).toEqual({});
  },
);

test.each([
  `{"x":${'['.repeat(80)}${']'.repeat(80)}}`,
  '{"arguments":{"amount":1e999}}',
  '{"a":{"__proto__":{}}}',
])('a request that is refused for its content is refused under its id: %s', async (params) => {
  const { input, next } = await scene();
  input.write(`{"method":"tools/call","params":${params},"jsonrpc":"2.0","id":"refused"}\n`);
  const { id, error } = await next();
  expect([id, (error as JsonObject)['code']]).toEqual(['refused', -32_600]);
});

test('lines come in pieces, with carriage returns, empty, and as no UTF-8', async () => {
  const { input, next } = await scene();
  const line = JSON.stringify({ jsonrpc: '2.0', id: 'é', method: 'ping' });
  const bytes = Buffer.from(`\r\n\n${line}\r\n`);
  for (const byte of bytes) input.write(Buffer.from([byte]));
  expect(await next()).toMatchObject({ id: 'é', result: {} });
  input.write(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
  expect(await next()).toMatchObject({ id: null, error: { code: -32_700 } });
});

test('batches are taken in a session of 2025-03-26', async () => {
  const { send, next, initialize } = await scene();
  await initialize('2025-03-26');
  send([
    { jsonrpc: '2.0', id: 'a', method: 'ping' },
    { jsonrpc: '2.0', id: 'b', method: 'ping' },
  ]);
  const ids = [await next(), await next()].map((message) => message['id']);
  expect(new Set(ids)).toEqual(new Set(['a', 'b']));
});

test('the end of the input ends the face; what runs as a task stays', async () => {
  const { input, face, modern, kit, open } = await scene();
  const taskId = String(resultOf(await modern('tools/call', { name: 'gated' }))['taskId']);
  const job = await kit.gate.next();
  open('subscriptions/listen', { notifications: { taskIds: [taskId] } }, 'L');
  open('server/discover', {}, 'last');
  input.end();
  await face.closed;
  expect(job.signal.aborted).toBe(false);
  expect((await kit.side.row(job.task)).phase).toBe('working');
  kit.gate.end(job, answered('done'));
  await kit.side.outcome(job.task);
});

test('what was asked just before the end of the input is answered', async () => {
  const { input, face, open, lines, kit } = await scene({
    tools: [tool('echo', { mode: 'sync' })],
  });
  open('server/discover', {}, 'one');
  open('tools/call', { name: 'echo' }, 'two');
  input.end();
  await face.closed;
  const ids = lines.map((line) => (JSON.parse(line) as JsonObject)['id']);
  expect(new Set(ids)).toEqual(new Set(['one', 'two']));
  expect(kit.calls.some((call) => call.startsWith('answeredInline'))).toBe(true);
});

test('a call that waits when the input ends is let go', async () => {
  const { input, face, kit, send, initialize } = await scene({
    tools: [tool('gated', { mode: 'sync' })],
  });
  await initialize();
  send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'gated' } });
  const job = await kit.gate.next();
  input.end();
  await face.closed;
  expect(kit.calls).toContain(`abandon ${job.task.id} stop`);
});

test('a reader that is gone ends the face', async () => {
  const kit = await createKit();
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const input = new PassThrough();
  const face = createStdioFace({
    ...kit.options,
    input,
    output: broken,
    principal: localPrincipal(),
  });
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await face.closed;
});

test('closing ends listens gracefully, and nothing but JSON-RPC ever left', async () => {
  const { face, open, next, lines } = await scene();
  open('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'L');
  await next(isMethod('notifications/subscriptions/acknowledged'));
  await face.close();
  const messages = lines.map((line): unknown => JSON.parse(line));
  expect(messages.every((message) => isJsonObject(message) && message['jsonrpc'] === '2.0')).toBe(
    true,
  );
  expect(messages.at(-1)).toMatchObject({ id: 'L', result: { resultType: 'complete' } });
});
