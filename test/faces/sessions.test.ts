import { expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { ALICE, answered, until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, tool, type Kit } from './face-kit.ts';
import {
  auth,
  caller2025,
  caller2026,
  errorOf,
  initialize,
  isMethod,
  nextId,
  post,
  resultOf,
  stream,
  textOf,
  type Greeting,
} from './wire.ts';

interface Scene {
  readonly kit: Kit;
  readonly url: string;
}

async function scene(...args: Parameters<typeof createKit>): Promise<Scene> {
  const kit = await createKit(...args);
  return { kit, url: (await kit.http()).url };
}

const greeted = async (url: string, greeting: Greeting = {}): Promise<JsonObject> =>
  resultOf(await initialize(url, 'alice', greeting));

verifies(
  ['G1-149', 'G1-15'],
  'the requested version is answered where it is served, else the newest of its line',
  async () => {
    const { url } = await scene();
    const versions = [
      '2025-11-25',
      '2025-06-18',
      '2025-03-26',
      '2024-11-05',
      '2026-07-28',
      '1999-01-01',
    ];
    const answers = await Promise.all(versions.map((version) => greeted(url, { version })));
    expect(answers.map((answer) => answer['protocolVersion'])).toEqual([
      '2025-11-25',
      '2025-06-18',
      '2025-03-26',
      '2024-11-05',
      '2025-11-25',
      '2025-11-25',
    ]);
  },
);

verifies(
  ['G1-01', 'G1-02', 'G1-65', 'G1-80', 'G2-174', 'G1-148'],
  'tasks are declared to sessions of 2025-11-25 alone, their list to callers that can be told apart, the extension to none',
  async () => {
    const { url } = await scene({ allowAnonymous: true });
    const known = await greeted(url);
    expect(known['capabilities']).toMatchObject({
      tools: { listChanged: true },
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    expect((known['capabilities'] as JsonObject)['extensions']).toBeUndefined();
    const older = await greeted(url, { version: '2025-06-18' });
    expect((older['capabilities'] as JsonObject)['tasks']).toBeUndefined();
    const nobody = resultOf(await initialize(url, undefined))['capabilities'] as JsonObject;
    expect(nobody['tasks']).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    const anonymous = await caller2025(url, undefined);
    expect(errorOf(await anonymous.call('tasks/list'))['code']).toBe(-32_601);
  },
);

test('initialize needs its three members', async () => {
  const { url } = await scene();
  const broken = [{}, { protocolVersion: 1 }, { protocolVersion: '2025-11-25', capabilities: [] }];
  const answers = await Promise.all(
    broken.map((params) =>
      post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }), {
        headers: auth('alice'),
      }),
    ),
  );
  for (const answer of answers) {
    expect(errorOf(answer)['code']).toBe(-32_602);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  }
});

verifies(
  ['G1-130', 'G1-104', 'G1-131', 'G1-132', 'G1-62'],
  'a session id is unguessable, good for its principal alone, and dead after DELETE',
  async () => {
    const { url } = await scene();
    const alice = await caller2025(url, 'alice');
    expect(alice.sessionId).toMatch(/^ses_[A-Za-z0-9_-]{27}$/);
    const ping = (token: string, id: string | undefined): Promise<number> =>
      post(url, JSON.stringify({ jsonrpc: '2.0', id: nextId(), method: 'ping' }), {
        headers: { ...auth(token), ...(id === undefined ? {} : { 'mcp-session-id': id }) },
      }).then(({ status }) => status);
    expect(await ping('alice', alice.sessionId)).toBe(200);
    expect(await ping('alice', undefined)).toBe(400);
    expect(await ping('bob', alice.sessionId)).toBe(404);
    expect(await ping('alice', 'ses_AAAAAAAAAAAAAAAAAAAAAAAAAAA')).toBe(404);
    const remove = (token: string): Promise<Response> =>
      fetch(url, { method: 'DELETE', headers: { ...alice.headers, ...auth(token) } });
    expect((await remove('bob')).status).toBe(404);
    expect((await remove('alice')).status).toBe(200);
    expect(await ping('alice', alice.sessionId)).toBe(404);
  },
);

verifies(
  ['G1-98', 'G1-124'],
  'an unsupported version header is 400, none at all is fine',
  async () => {
    const { url } = await scene();
    const alice = await caller2025(url, 'alice');
    const send = (version: string | undefined): Promise<number> => {
      const { 'mcp-protocol-version': _, ...headers } = alice.headers;
      const named =
        version === undefined ? headers : { ...headers, 'mcp-protocol-version': version };
      return post(url, JSON.stringify({ jsonrpc: '2.0', id: nextId(), method: 'ping' }), {
        headers: named,
      }).then(({ status }) => status);
    };
    expect(await Promise.all(['2025-11-25', undefined, '2020-01-01', 'x'].map(send))).toEqual([
      200, 200, 400, 400,
    ]);
  },
);

test('a POST says that it can read both kinds of answers', async () => {
  const { url } = await scene();
  const alice = await caller2025(url, 'alice');
  const status = async (accept: string): Promise<number> =>
    (await alice.open('ping', {}, { headers: { accept } })).status;
  expect(await status('application/json')).toBe(406);
  expect(await status('text/event-stream, application/json')).toBe(200);
  expect(await status('*/*')).toBe(200);
  const headers = { ...alice.headers, accept: 'application/json' };
  expect((await fetch(url, { headers })).status).toBe(406);
});

verifies(
  ['G1-125', 'G1-34'],
  'notifications and responses are 202, and a request whose answer is all there is gets JSON',
  async () => {
    const { url } = await scene();
    const alice = await caller2025(url, 'alice');
    expect((await alice.send({ method: 'notifications/roots/list_changed' })).status).toBe(202);
    expect((await alice.send({ id: 'longcall-77', result: {} })).status).toBe(202);
    const ping = await alice.call('ping');
    expect(ping.headers.get('content-type')).toBe('application/json');
    expect(resultOf(ping)).toEqual({});
    const created = await alice.tool('hangs', {}, { task: {} });
    const { taskId } = resultOf(created)['task'] as JsonObject;
    expect(created.headers.get('content-type')).toBe('application/json');
    expect((await alice.call('tasks/get', { taskId })).headers.get('content-type')).toBe(
      'application/json',
    );
  },
);

test('batches are of 2025-03-26 and older', async () => {
  const { url } = await scene();
  const batch = (...messages: readonly JsonObject[]): string =>
    JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message })));
  const [old, young] = await Promise.all(
    ['2025-03-26', '2025-06-18'].map((version) => caller2025(url, 'alice', { version })),
  );
  const two = batch(
    { id: 1, method: 'ping' },
    { id: 2, method: 'tools/list' },
    { method: 'notifications/x' },
  );
  const answer = await post(url, two, { headers: old?.headers ?? {} });
  expect(new Set(answer.messages.map(({ id }) => id))).toEqual(new Set([1, 2]));
  expect(
    (await post(url, batch({ method: 'notifications/x' }), { headers: old?.headers ?? {} })).status,
  ).toBe(202);
  expect((await post(url, two, { headers: young?.headers ?? {} })).status).toBe(400);
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} };
  const first = batch({ id: 1, method: 'initialize', params });
  expect((await post(url, first, { headers: auth('alice') })).status).toBe(400);
});

test('a session that was idle for long is gone, one with an open stream stays', async () => {
  const manual = createManualClock();
  const clock = { ...systemClock, after: manual.after, monotonic: manual.monotonic };
  const { url } = await scene({ face: { clock, sessionIdleMs: 1000, keepAliveMs: 1e9 } });
  const [idle, open] = await Promise.all([caller2025(url, 'alice'), caller2025(url, 'alice')]);
  const events = await open.listen();
  manual.advance(1300);
  expect((await idle.call('ping')).status).toBe(404);
  expect((await open.call('ping')).status).toBe(200);
  await events.cancel();
});

verifies('G1-07', 'tools are listed with how each is served as a task', async () => {
  const tools = (['passthrough', 'sync', 'task-optional', 'task-required', 'refuse'] as const).map(
    (mode) => tool(mode, { mode }),
  );
  const { url } = await scene({ tools });
  const alice = await caller2025(url, 'alice');
  const listed = resultOf(await alice.call('tools/list'))['tools'] as readonly JsonObject[];
  expect(listed.map(({ name, execution }) => [name, execution])).toEqual([
    ['passthrough', { taskSupport: 'forbidden' }],
    ['sync', { taskSupport: 'forbidden' }],
    ['task-optional', { taskSupport: 'optional' }],
    ['task-required', { taskSupport: 'required' }],
  ]);
  const older = await caller2025(url, 'alice', { version: '2025-06-18' });
  expect(JSON.stringify(resultOf(await older.call('tools/list')))).not.toContain('execution');
  expect(errorOf(await alice.call('tools/list', { cursor: 'x' }))['code']).toBe(-32_602);
});

verifies(
  'G1-127',
  'a plain call streams its progress and log on its own POST, and then its answer',
  async () => {
    const { url, kit } = await scene({ tools: [tool('gated', { mode: 'sync' })] });
    const alice = await caller2025(url, 'alice');
    await alice.call('logging/setLevel', { level: 'warning' });
    const other = await alice.listen();
    const events = await stream(
      alice.open('tools/call', { name: 'gated' }, { id: 'c', meta: { progressToken: 5 } }),
    );
    const job = await kit.gate.next();
    job.progress({ progress: 1 });
    job.progress({ progress: 1 });
    job.log({ level: 'info', data: 'too quiet' });
    job.log({ level: 'error', data: 'loud' });
    kit.gate.end(job, answered('done'));
    const messages = await events.rest();
    expect(messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/message',
      'c',
    ]);
    expect(messages[0]?.['params']).toEqual({ progress: 1, progressToken: 5 });
    expect(textOf(resultOf(messages[2] ?? {}))).toContain('done');
    await until(() => kit.calls.some((call) => call.startsWith('answeredInline')));
    await other.cancel();
  },
);

verifies(
  ['G1-72', 'G1-129', 'G1-128'],
  'a disconnect is no cancel: the call goes on, and its answer is replayed on its own stream only',
  async () => {
    const { url, kit } = await scene({ tools: [tool('gated', { mode: 'sync' })] });
    const alice = await caller2025(url, 'alice');
    const events = await stream(
      alice.open('tools/call', { name: 'gated' }, { id: 'c', meta: { progressToken: 5 } }),
    );
    const primed = await events.event();
    expect(primed).toMatchObject({ data: '', retry: '1000' });
    const job = await kit.gate.next();
    job.progress({ progress: 1 });
    const progress = await events.event();
    await events.cancel();
    job.progress({ progress: 2 });
    expect(job.signal.aborted).toBe(false);
    kit.gate.end(job, answered('done'));
    const other = await alice.listen();
    kit.surface.emit({ kind: 'list_changed', list: 'tools' });
    const resumed = await alice.listen(progress.id);
    const replayed = await resumed.rest();
    expect(replayed.map(({ method, id }) => method ?? id)).toEqual(['notifications/progress', 'c']);
    expect(await other.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
    await until(() => kit.calls.some((call) => call.startsWith('answeredInline')));
    expect(kit.calls.some((call) => call.startsWith('abandon'))).toBe(false);
    await other.cancel();
  },
);

test("another session's event id, or one of nobody, resumes nothing [S4]", async () => {
  const { url, kit } = await scene({ tools: [tool('gated', { mode: 'sync' })] });
  const [alice, again] = await Promise.all([caller2025(url, 'alice'), caller2025(url, 'alice')]);
  const events = await stream(alice.open('tools/call', { name: 'gated' }));
  const { id } = await events.event();
  await kit.gate.next();
  await events.cancel();
  await expect(again.listen(id)).rejects.toThrow('400');
  await expect(alice.listen('999-1')).rejects.toThrow('400');
  await expect(alice.listen('nonsense')).rejects.toThrow('400');
});

test('older sessions get no event without data', async () => {
  const { url } = await scene({ tools: [tool('echo', { mode: 'sync' })] });
  const old = await caller2025(url, 'alice', { version: '2025-06-18' });
  const events = await stream(old.open('tools/call', { name: 'echo', arguments: {} }));
  const first = await events.event();
  expect(first.data).toContain('echo');
  expect(first.id).toBe('1-1');
});

verifies(
  ['G1-74', 'G1-73'],
  'notifications/cancelled stops a plain call upstream, unanswered; ids of nothing are ignored',
  async () => {
    const { url, kit } = await scene({
      tools: [tool('gated', { mode: 'sync', effect: 'consequential' })],
    });
    const alice = await caller2025(url, 'alice');
    const cancel = (requestId: unknown): Promise<Response> =>
      alice.send({ method: 'notifications/cancelled', params: { requestId: requestId as never } });
    const events = await stream(alice.open('tools/call', { name: 'gated' }, { id: 'c' }));
    const job = await kit.gate.next();
    await job.dispatched();
    expect((await cancel('nothing')).status).toBe(202);
    expect((await cancel({})).status).toBe(202);
    await cancel('c');
    expect(await events.rest()).toEqual([]);
    await until(() => job.signal.aborted);
    expect(kit.calls).toContain(`abandon ${job.task.id} stop`);
    expect((await cancel('c')).status).toBe(202);
  },
);

verifies(
  'G1-64',
  'a cancelled request that has become a task is none any more: the task lives',
  async () => {
    const { url } = await scene();
    const alice = await caller2025(url, 'alice');
    const created = resultOf(await alice.tool('hangs', {}, { task: {}, id: 'c' }));
    const { taskId } = created['task'] as JsonObject;
    await alice.send({ method: 'notifications/cancelled', params: { requestId: 'c' } });
    expect(resultOf(await alice.call('tasks/get', { taskId }))['status']).toBe('working');
  },
);

test('a call of a session that is deleted is let go', async () => {
  const { url, kit } = await scene({ tools: [tool('gated', { mode: 'sync' })] });
  const alice = await caller2025(url, 'alice');
  const events = await stream(alice.open('tools/call', { name: 'gated' }));
  const job = await kit.gate.next();
  await fetch(url, { method: 'DELETE', headers: alice.headers });
  await expect(events.rest()).rejects.toThrow('terminated');
  await until(() => job.signal.aborted);
  expect(kit.calls).toContain(`abandon ${job.task.id} stop`);
});

verifies(
  'G1-145',
  'a plain call that meets its limit says what is known and how to run longer',
  async () => {
    const { url, kit } = await scene({
      tools: [tool('gated', { plainLimitMs: 40, effect: 'consequential' })],
    });
    const alice = await caller2025(url, 'alice');
    const call = alice.tool('gated');
    const job = await kit.gate.next();
    await job.dispatched();
    const error = errorOf(await call);
    expect(error).toMatchObject({
      code: -32_603,
      data: { reason: 'plain_limit', operationId: job.task.operationId },
    });
    expect(error['message']).toContain('params.task');
    await until(() => job.signal.aborted);
  },
);

test('a question of a plain call comes on its POST stream, without a task around it', async () => {
  const { url } = await scene({ tools: [tool('asks', { mode: 'sync' })] });
  const alice = await caller2025(url, 'alice');
  const events = await stream(alice.open('tools/call', { name: 'asks' }));
  const question = await events.message(isMethod('elicitation/create'));
  expect(question['params']).toMatchObject({ message: 'go on?' });
  expect(JSON.stringify(question)).not.toContain('related-task');
  await alice.respond(question, { action: 'accept', content: { ok: true } });
  const [answer] = await events.rest();
  expect(textOf(resultOf(answer ?? {}))).toContain('accept');
});

test('a forwarded request asks on its POST stream too, and its answer goes back', async () => {
  const { url } = await scene({
    async forward({ onAsk, method }) {
      const answer = await onAsk?.({ method: 'roots/list', params: {} });
      return { method, answer: JSON.stringify(answer) };
    },
  });
  const alice = await caller2025(url, 'alice', { capabilities: { roots: {} } });
  const events = await stream(alice.open('tools/call', { name: 'plain', arguments: {} }));
  await alice.respond(await events.message(isMethod('roots/list')), { roots: [] });
  const [answer] = await events.rest();
  expect(resultOf(answer ?? {})['answer']).toContain('"roots":[]');
});

test('everything else goes to the surface as it is, and errors come back as they are', async () => {
  const { RpcFailure } = await import('../../src/runtime/surface.ts');
  const { url, kit } = await scene({
    async forward({ method, params }) {
      if (method === 'boom') throw new RpcFailure(-32_042, 'open this', { elicitations: [1] });
      return { method, params };
    },
  });
  const alice = await caller2025(url, 'alice');
  const read = await alice.call(
    'resources/read',
    { uri: 'a:b', more: 1 },
    { meta: { 'x.y/z': 1, progressToken: 3 } },
  );
  expect(resultOf(read)).toEqual({ method: 'resources/read', params: { uri: 'a:b', more: 1 } });
  expect(kit.surface.forwarded[0]?.meta).toEqual({ 'x.y/z': 1 });
  expect(errorOf(await alice.call('boom'))).toEqual({
    code: -32_042,
    message: 'open this',
    data: { elicitations: [1] },
  });
  const others = ['tasks/update', 'server/discover', 'subscriptions/listen'];
  const answers = await Promise.all(others.map((method) => alice.call(method)));
  expect(answers.map((answer) => errorOf(answer)['code'])).toEqual(others.map(() => -32_601));
  expect(kit.surface.forwarded).toHaveLength(2);
});

test('resources are watched for the session, and updates come to it alone', async () => {
  const { url, kit } = await scene();
  const [alice, other] = await Promise.all([caller2025(url, 'alice'), caller2025(url, 'alice')]);
  const [events, elsewhere] = await Promise.all([alice.listen(), other.listen()]);
  await alice.call('resources/subscribe', { uri: 'file:a' });
  expect(errorOf(await alice.call('resources/subscribe', { uri: 'bad:a' }))['code']).toBe(-32_602);
  kit.surface.emit({
    kind: 'resource_updated',
    uri: 'file:a',
    principalKey: ALICE.key,
    params: {},
  });
  expect(await events.message()).toMatchObject({ params: { uri: 'file:a' } });
  await alice.call('resources/unsubscribe', { uri: 'file:a' });
  expect(kit.surface.subscribed).toEqual(['+file:a', '-file:a']);
  kit.surface.emit({
    kind: 'resource_updated',
    uri: 'file:a',
    principalKey: ALICE.key,
    params: {},
  });
  kit.surface.emit({ kind: 'list_changed', list: 'prompts' });
  expect(await events.message()).toMatchObject({ method: 'notifications/prompts/list_changed' });
  expect(await elsewhere.message()).toMatchObject({ method: 'notifications/prompts/list_changed' });
  await Promise.all([events.cancel(), elsewhere.cancel()]);
});

verifies('G1-128', 'a session ends with its face, told to come back', async () => {
  const kit = await createKit();
  const { url, face } = await kit.http();
  const alice = await caller2025(url, 'alice');
  const events = await alice.listen();
  await events.event();
  const closing = face.close();
  expect(await events.event()).toMatchObject({ retry: '1000' });
  await closing;
  expect((await caller2026(url, 'alice').call('server/discover')).status).toBe(503);
});
