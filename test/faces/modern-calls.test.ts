import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { answered, until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, tool, type Kit } from './face-kit.ts';
import {
  caller2026,
  errorOf,
  isMethod,
  LOG_LEVEL_META,
  resultOf,
  stream,
  textOf,
  WITH_FORMS,
  type Caller2026,
} from './wire.ts';

interface Scene {
  readonly kit: Kit;
  readonly alice: Caller2026;
}

async function scene(...args: Parameters<typeof createKit>): Promise<Scene> {
  const kit = await createKit(...args);
  const { url } = await kit.http();
  return { kit, alice: caller2026(url, 'alice') };
}

const windowed = (syncWindowMs: number) => [tool('gated', { syncWindowMs })];
const isCall = (what: string) => (call: string) => call.startsWith(what);

test('within the window the plain answer comes, and no handle', async () => {
  const { alice, kit } = await scene({ tools: [tool('echo', { syncWindowMs: 20_000 })] });
  const result = resultOf(await alice.tool('echo', { a: 1 }));
  expect(result['resultType']).toBe('complete');
  expect(textOf(result)).toContain('echo');
  await until(() => kit.calls.some(isCall('answeredInline')));
  expect(kit.calls.some(isCall('handleGiven'))).toBe(false);
});

test('past the window the handle leaves, and is given once it was written', async () => {
  const { alice, kit } = await scene({ tools: windowed(30) });
  const result = resultOf(await alice.tool('gated'));
  expect(result).toMatchObject({ resultType: 'task', status: 'working' });
  await until(() => kit.calls.includes(`handleGiven ${String(result['taskId'])}`));
  kit.gate.end(await kit.gate.next(), answered('late'));
});

verifies('G2-30', 'a question inside the window promotes to the handle at once', async () => {
  const { alice } = await scene({ tools: [tool('asks', { syncWindowMs: 20_000 })] });
  const result = resultOf(await alice.tool('asks'));
  expect(result).toMatchObject({ resultType: 'task', status: 'working' });
  expect(result['inputRequests']).toBeUndefined();
  const task = resultOf(await alice.call('tasks/get', { taskId: result['taskId'] }));
  expect(task['status']).toBe('input_required');
});

verifies(
  'G2-91',
  'a stream that is closed before the handle has left ends the call, and nothing is sent any more',
  async () => {
    const { alice, kit } = await scene({ tools: windowed(20_000) });
    const left = new AbortController();
    const open = alice.open(
      'tools/call',
      { name: 'gated', arguments: {} },
      { signal: left.signal },
    );
    const job = await kit.gate.next();
    left.abort();
    await expect(open).rejects.toThrow('aborted');
    await until(() => kit.calls.includes(`abandon ${job.task.id} stop`));
    await until(async () => (await kit.side.row(job.task)).phase === 'ended');
    expect(kit.calls.some(isCall('handleGiven'))).toBe(false);
  },
);

test('what was sent and is no read finishes into the ledger when the caller leaves [decision 1]', async () => {
  const tools = [tool('gated', { syncWindowMs: 20_000, effect: 'consequential' })];
  const { alice, kit } = await scene({ tools });
  const left = new AbortController();
  const open = alice.open('tools/call', { name: 'gated', arguments: {} }, { signal: left.signal });
  const job = await kit.gate.next();
  await job.dispatched();
  left.abort();
  await expect(open).rejects.toThrow('aborted');
  await until(() => kit.calls.includes(`abandon ${job.task.id} leave`));
  expect(job.signal.aborted).toBe(false);
  kit.gate.end(job, answered('done all the same'));
  expect((await kit.side.outcome(job.task)).kind).toBe('result');
});

test('a handle that could not be written any more is none: the call ends like one that was stopped', async () => {
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
  server.once('request', (_req, res: ServerResponse) => res.once('close', disconnected.resolve));
  const left = new AbortController();
  const params = { name: 'gated', arguments: {} };
  const open = caller2026(url, 'alice').open('tools/call', params, { signal: left.signal });
  const job = await kit.gate.next();
  left.abort();
  await expect(open).rejects.toThrow('aborted');
  await until(() => kit.calls.includes(`abandon ${job.task.id} leave`));
  await until(async () => (await kit.side.row(job.task)).phase === 'ended');
  expect(kit.calls.some(isCall('handleGiven'))).toBe(false);
});

verifies('T27', 'a handle that was given lives on when its caller goes', async () => {
  const { alice, kit } = await scene();
  const taskId = String(resultOf(await alice.tool('hangs'))['taskId']);
  await until(() => kit.calls.includes(`handleGiven ${taskId}`));
  expect(kit.calls.some(isCall('abandon'))).toBe(false);
  expect(resultOf(await alice.call('tasks/get', { taskId }))['status']).toBe('working');
});

verifies(
  ['G2-157', 'G2-168', 'G2-167'],
  'progress of a call comes on its own stream, only growing, until the handle leaves',
  async () => {
    const { alice, kit } = await scene({ tools: windowed(400) });
    const open = stream(
      alice.open('tools/call', { name: 'gated', arguments: {} }, { meta: { progressToken: 'p1' } }),
    );
    const job = await kit.gate.next();
    for (const progress of [1, 1, 0.5, 2]) job.progress({ progress, message: `at ${progress}` });
    const events = await open;
    const messages = await events.rest();
    job.progress({ progress: 3 });
    const progress = messages.filter(isMethod('notifications/progress'));
    expect(progress.map((message) => message['params'])).toEqual([
      { progress: 1, message: 'at 1', progressToken: 'p1' },
      { progress: 2, message: 'at 2', progressToken: 'p1' },
    ]);
    expect(resultOf(messages.at(-1) ?? {})['resultType']).toBe('task');
  },
);

verifies(
  'G2-169',
  'log messages come only to a request that set a level, and only from that level up',
  async () => {
    const { alice, kit } = await scene({ tools: windowed(300) });
    const quiet = alice.tool('gated');
    const first = await kit.gate.next();
    first.log({ level: 'emergency', data: 'nobody asked' });
    kit.gate.end(first, answered('done'));
    expect((await quiet).messages).toEqual([]);
    const open = alice.tool('gated', {}, { meta: { [LOG_LEVEL_META]: 'warning' } });
    const second = await kit.gate.next();
    second.log({ level: 'info', data: 'no' });
    second.log({ level: 'error', data: 'yes' });
    kit.gate.end(second, answered('done'));
    const logs = (await open).messages.filter(isMethod('notifications/message'));
    expect(logs.map((message) => message['params'])).toEqual([{ level: 'error', data: 'yes' }]);
  },
);

verifies(
  'G2-60',
  'a stream carries no request to the client, also when the tool asks',
  async () => {
    const { alice } = await scene({ tools: [tool('asks', { mode: 'sync' })] });
    const answer = await alice.tool('asks', {}, { meta: { progressToken: 1 } });
    expect(
      answer.messages.every(
        (message) => message['id'] === undefined || message['method'] === undefined,
      ),
    ).toBe(true);
    expect(resultOf(answer)['resultType']).toBe('input_required');
  },
);

verifies('G2-108', 'a long silence becomes a stream with comments, before the answer', async () => {
  const { alice, kit } = await scene({
    tools: [tool('gated', { mode: 'sync' })],
    face: { keepAliveMs: 30 },
  });
  const response = await alice.open('tools/call', { name: 'gated', arguments: {} });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const events = await stream(Promise.resolve(response));
  expect(await events.comment()).toBe('keep-alive');
  kit.gate.end(await kit.gate.next(), answered('done'));
  expect(textOf(resultOf(await events.message()))).toContain('done');
});

verifies(
  'G2-171',
  'a plain call that meets its limit is cancelled upstream, and told what is known',
  async () => {
    const tools = [
      tool('hangs', { plainLimitMs: 40 }),
      tool('gated', { plainLimitMs: 40, effect: 'consequential' }),
    ];
    const { alice, kit } = await scene({ tools });
    const read = errorOf(await alice.tool('hangs', {}, { capabilities: {} }));
    expect(read).toMatchObject({ code: -32_603, data: { reason: 'plain_limit' } });
    expect(read['message']).toContain('may be repeated');
    expect(read['message']).toContain('declare the extension');
    const call = alice.tool('gated', {}, { capabilities: {} });
    const job = await kit.gate.next();
    await job.dispatched();
    const effect = errorOf(await call);
    expect(effect['data']).toMatchObject({
      reason: 'plain_limit',
      operationId: job.task.operationId,
    });
    expect(effect['message']).toContain('do not repeat');
    await until(() => job.signal.aborted);
  },
);

test('a passthrough call is forwarded as it came, with its progress and log, and recorded nowhere', async () => {
  const { alice, kit } = await scene({
    async forward({ onProgress, onLog }) {
      onProgress?.({ progress: 1 });
      onLog?.({ level: 'info', data: 'hello' });
      return { content: [{ type: 'newer', thing: 1 }], _meta: { 'com.example/x': 2 }, extra: true };
    },
  });
  const answer = await alice.call(
    'tools/call',
    { name: 'plain', arguments: { a: 1 }, task: {}, 'com.example': 4 },
    { meta: { progressToken: 7, [LOG_LEVEL_META]: 'debug', 'com.example/trace': 't' } },
  );
  expect(answer.messages.map((message) => message['method'])).toEqual([
    'notifications/progress',
    'notifications/message',
    undefined,
  ]);
  expect(resultOf(answer)).toMatchObject({
    content: [{ type: 'newer', thing: 1 }],
    extra: true,
    _meta: { 'com.example/x': 2 },
    resultType: 'complete',
  });
  const [sent] = kit.surface.forwarded;
  expect(sent).toMatchObject({
    method: 'tools/call',
    generation: '2026-07-28',
    params: { name: 'plain', arguments: { a: 1 }, 'com.example': 4 },
    meta: { 'com.example/trace': 't' },
    asks: ['elicitation-form'],
  });
  expect(sent?.params['task'] ?? sent?.params['_meta']).toBeUndefined();
  expect((await kit.side.store.tasks.counts()).working).toBe(0);
});

test('a forwarded call hears of it when its caller leaves', async () => {
  let signal: AbortSignal | undefined;
  const { alice } = await scene({
    forward(request) {
      signal = request.signal;
      return new Promise(() => undefined);
    },
  });
  const left = new AbortController();
  const open = alice.open('tools/call', { name: 'plain', arguments: {} }, { signal: left.signal });
  await until(() => signal !== undefined);
  left.abort();
  await expect(open).rejects.toThrow('aborted');
  await until(() => signal?.aborted === true);
});

test('errors of an upstream pass with code, message and data; a reserved code without meaning does not', async () => {
  const { RpcFailure } = await import('../../src/runtime/surface.ts');
  const failures = [
    new RpcFailure(-32_000, 'own', { a: 1 }),
    new RpcFailure(4711, 'free'),
    new RpcFailure(-32_002, 'no such resource', { uri: 'x:y' }),
    new RpcFailure(-32_042, 'open this', { elicitations: [] }),
    new RpcFailure(-32_021, 'needs', { requiredCapabilities: { sampling: {} } }),
  ];
  const { alice } = await scene({
    forward: async () => {
      throw failures.shift() ?? new Error('none left');
    },
  });
  const next = async (): Promise<readonly [number, JsonObject]> => {
    const answer = await alice.tool('plain');
    return [answer.status, errorOf(answer)];
  };
  expect(await next()).toEqual([200, { code: -32_000, message: 'own', data: { a: 1 } }]);
  expect(await next()).toEqual([200, { code: 4711, message: 'free' }]);
  expect(await next()).toEqual([
    200,
    { code: -32_602, message: 'no such resource', data: { uri: 'x:y' } },
  ]);
  expect(await next()).toEqual([
    200,
    { code: -32_603, message: 'open this', data: { elicitations: [] } },
  ]);
  expect((await next())[0]).toBe(400);
});

test('a task that an upstream made for a forwarded call is never passed on', async () => {
  const { alice } = await scene({
    forward: async () => ({ resultType: 'task', taskId: 'theirs' }),
  });
  const answer = await alice.tool('plain');
  expect(errorOf(answer)['code']).toBe(-32_603);
  expect(answer.text).not.toContain('theirs');
});

verifies(
  ['G2-14', 'G2-17'],
  'everything else goes to the surface, and comes back with what this revision wants',
  async () => {
    const { alice } = await scene({
      forward: async ({ method }) =>
        method === 'resources/list' ? { resources: [] } : { contents: [] },
    });
    expect(resultOf(await alice.call('resources/list'))).toMatchObject({
      resources: [],
      resultType: 'complete',
      cacheScope: 'private',
    });
    expect(resultOf(await alice.call('resources/read', { uri: 'a:b' }))).toMatchObject({
      ttlMs: 0,
    });
    expect(resultOf(await alice.call('com.example/custom'))).toMatchObject({ contents: [] });
  },
);

test('callers that can be asked nothing get no question', async () => {
  const { alice } = await scene({ tools: [tool('asks', { mode: 'sync' })] });
  const result = resultOf(await alice.tool('asks', {}, { capabilities: {} }));
  expect(textOf(result)).toContain('undeclared');
  const form = await alice.tool('asks', {}, { capabilities: WITH_FORMS });
  expect(resultOf(form)['resultType']).toBe('input_required');
});

test('a call in its window when the face closes gets its handle, a plain one is told to ask the next process', async () => {
  const kit = await createKit({ tools: [tool('gated', { syncWindowMs: 20_000 })] });
  const { url, face } = await kit.http();
  const alice = caller2026(url, 'alice');
  const windowedCall = alice.tool('gated');
  const plainCall = alice.tool('gated', {}, { capabilities: {} });
  await kit.gate.next();
  await kit.gate.next();
  const closing = face.close();
  expect(resultOf(await windowedCall)).toMatchObject({ resultType: 'task' });
  expect(errorOf(await plainCall)).toMatchObject({ code: 1503, data: { reason: 'draining' } });
  await closing;
});
