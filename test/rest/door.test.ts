import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createPrincipal } from '../../src/identity/principal.ts';
import { moreTokens, tool } from '../faces/face-kit.ts';
import { createJobSite, type JobSite } from '../job-tools/hosts.ts';
import { idOf, restClient, type RestRequest } from './rest-client.ts';

const TOOLS = [
  tool('gated'),
  tool('echo'),
  tool('sync', { mode: 'sync' }),
  tool('plain', { mode: 'passthrough' }),
  tool('refused', { mode: 'refuse' }),
  tool('required', { mode: 'task-required' }),
];
const site = (but: Parameters<typeof createJobSite>[0] = {}): Promise<JobSite> =>
  createJobSite({ tools: TOOLS, ...but });

const post = (body: string | JsonObject, headers = {}): RestRequest => ({
  method: 'POST',
  body,
  headers,
});

const DEEP = `{"tool":"echo","arguments":${'{"a":'.repeat(80)}1${'}'.repeat(80)}}`;

/** Every malformed request, and what is said of it. */
const MALFORMED: readonly (readonly [string, string, RestRequest, number, string])[] = [
  ['no JSON', '/jobs', post('{'), 400, 'the body is no JSON'],
  ['a list', '/jobs', post('[]'), 400, 'must be a JSON object'],
  ['nested too deep', '/jobs', post(DEEP), 400, 'nested deeper'],
  [
    'a number that no double holds',
    '/jobs',
    post('{"tool":"echo","waitMs":1e999}'),
    400,
    'refused',
  ],
  ['__proto__', '/jobs', post('{"tool":"echo","__proto__":{}}'), 400, '__proto__'],
  ['no tool', '/jobs', post({}), 400, 'tool'],
  ['a tool that is no text', '/jobs', post({ tool: 7 }), 400, 'tool'],
  [
    'arguments that are no object',
    '/jobs',
    post({ tool: 'echo', arguments: [] }),
    400,
    'arguments',
  ],
  ['an unknown member', '/jobs', post({ tool: 'echo', wait: 1 }), 400, 'no member wait'],
  ['a wait too long', '/jobs', post({ tool: 'echo', waitMs: 20_001 }), 400, 'waitMs'],
  ['a negative wait', '/jobs', post({ tool: 'echo', waitMs: -1 }), 400, 'waitMs'],
  [
    'a kind of question that is none',
    '/jobs',
    post({ tool: 'echo', asks: ['roots'] }),
    400,
    'asks.0',
  ],
  [
    'another type',
    '/jobs',
    post('tool=echo', { 'content-type': 'text/plain' }),
    415,
    'application/json',
  ],
  [
    'a body too large',
    '/jobs',
    post({ tool: 'echo', arguments: { a: 'x'.repeat(70_000) } }),
    413,
    'larger',
  ],
  ['a query', '/jobs?x=1', post({ tool: 'echo' }), 400, 'no member x'],
  ['an unknown tool', '/jobs', post({ tool: 'nope' }), 422, 'no such tool'],
  ['a tool that is refused', '/jobs', post({ tool: 'refused' }), 403, 'policy refuses'],
  ['a tool that makes no jobs', '/jobs', post({ tool: 'sync' }), 403, 'served as sync'],
  ['a tool that is passed through', '/jobs', post({ tool: 'plain' }), 403, 'served as passthrough'],
  ['a cursor of nobody', '/jobs?cursor=abc', {}, 400, 'cursor'],
  ['a cursor twice', '/jobs?cursor=a&cursor=b', {}, 400, 'more than once'],
  ['an unknown job', '/jobs/tsk_x', {}, 404, 'no such job'],
  ['a wait that is no number', '/jobs/tsk_x/wait?forMs=soon', {}, 400, 'forMs'],
  ['a wait of an hour', '/jobs/tsk_x/wait?forMs=99999', {}, 400, 'forMs'],
  [
    'answers that are none',
    '/jobs/tsk_x/answers',
    post({ answers: { k: 'yes' } }),
    400,
    'answers.k',
  ],
  [
    'an answer without an action',
    '/jobs/tsk_x/answers',
    post({ answers: { k: {} } }),
    400,
    'action',
  ],
  ['a cancel with a reason', '/jobs/tsk_x/cancel', post({ reason: 'x' }), 400, 'no member reason'],
  ['an unknown route', '/jobs/tsk_x/nope', {}, 404, 'no such route'],
  ['a trailing slash', '/jobs/', {}, 404, 'no such route'],
];

describe('a request that cannot be served', () => {
  test.each(MALFORMED)('%s gets a problem', async (...row) => {
    const [, path, how, status, words] = row;
    const { origin, kit } = await site();
    const client = restClient(origin);
    const { status: answered, headers, body } = await client.ask(path, how);
    expect(answered).toBe(status);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(body).toMatchObject({ status, title: expect.any(String) as string });
    expect(body['code']).toMatch(/^LONGCALL_/);
    expect(String(body['detail'])).toContain(words);
    expect((await kit.side.store.tasks.counts()).working).toBe(0);
  });

  test.each(['HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is not served', async (method) => {
    const { origin } = await site();
    const response = await fetch(`${origin}/jobs`, {
      method,
      headers: { authorization: 'Bearer alice' },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, GET');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('bytes that are no UTF-8 are said to be that', async () => {
    const { origin } = await site();
    const response = await fetch(`${origin}/jobs`, {
      method: 'POST',
      headers: { authorization: 'Bearer alice', 'content-type': 'application/json' },
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('no UTF-8');
  });
});

describe('the door', () => {
  const PATHS = [
    '/jobs',
    '/jobs/tsk_x',
    '/jobs/tsk_x/wait',
    '/jobs/tsk_x/result',
    '/openapi.json',
    '/jobs/x/y/z',
  ];

  test.each(PATHS)('%s needs a credential that counts', async (path) => {
    const { origin } = await site();
    const client = restClient(origin);
    for (const token of [undefined, 'nobody']) {
      const { status, headers, body } = await client.ask(path, { token });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toContain('Bearer');
      expect(body).toMatchObject({ code: 'LONGCALL_UNAUTHENTICATED' });
    }
  });

  test.each([
    ['host', 'evil.example'],
    ['origin', 'http://evil.example'],
  ])('a request that a browser was lured into is refused by its %s', async (name, value) => {
    const { origin } = await site();
    const { hostname, port } = new URL(origin);
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: 'Bearer alice', [name]: value };
      request({ hostname, port, path: '/jobs', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  test('callers without a token are served where MCP serves them, and can list nothing', async () => {
    const { origin } = await site({ allowAnonymous: true });
    const client = restClient(origin);
    const anyone = { token: undefined };
    const started = await client.start({ tool: 'gated' }, anyone);
    expect(started.status).toBe(202);
    expect((await client.ask(`/jobs/${idOf(started)}`, anyone)).status).toBe(200);
    expect((await client.ask('/jobs', anyone)).status).toBe(401);
    expect((await client.ask(`/jobs/${idOf(started)}`)).status).toBe(404);
  });

  test('a foreign id is answered like an unknown one, byte for byte, on every route', async () => {
    const { origin } = await site();
    const id = idOf(await restClient(origin).start({ tool: 'gated' }));
    const bob = restClient(origin, 'bob');
    const routes: readonly (readonly [string, RestRequest])[] = [
      ['', {}],
      ['/wait', {}],
      ['/result', {}],
      ['/cancel', { method: 'POST' }],
      ['/answers', post({ answers: { k: { action: 'accept' } } })],
    ];
    for (const [route, how] of routes) {
      const foreign = await bob.ask(`/jobs/${id}${route}`, how);
      const unknown = await bob.ask(`/jobs/tsk_${'a'.repeat(27)}${route}`, how);
      expect(foreign.status).toBe(404);
      expect([foreign.status, foreign.text]).toEqual([unknown.status, unknown.text]);
    }
  });

  test('a credential without a scope is told which, before anything is looked up', async () => {
    const { origin } = await site();
    const reader = createPrincipal({
      issuer: 'test',
      tenant: 'acme',
      subject: 'reader',
      method: 'token',
      scopes: ['task.read'],
    });
    moreTokens.set('reader', reader);
    const client = restClient(origin, 'reader');
    const { status, headers, body } = await client.ask('/jobs/tsk_x/result');
    expect(status).toBe(403);
    expect(headers.get('www-authenticate')).toContain('scope="task.result"');
    expect(body).toMatchObject({ code: 'LONGCALL_SCOPE_MISSING' });
    expect((await client.start({ tool: 'echo' })).status).toBe(403);
    expect((await client.ask('/jobs/tsk_x')).status).toBe(404);
  });

  test('who polls faster than anybody needs is told when to come back', async () => {
    const { origin } = await site({ face: { statusReads: { perSecond: 1, burst: 2 } } });
    const client = restClient(origin);
    const id = idOf(await client.start({ tool: 'gated' }));
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await client.ask(`/jobs/${id}`)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const { headers, body } = await client.ask(`/jobs/${id}`);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toMatchObject({ code: 'LONGCALL_CAPACITY', retryAfterMs: 1000 });
  });

  test('at capacity a start is refused with a time to come back, and leaves nothing', async () => {
    const { origin } = await site({ open: 1 });
    const client = restClient(origin);
    await client.start({ tool: 'gated' });
    const full = await client.start({ tool: 'gated', arguments: { more: true } });
    expect(full.status).toBe(429);
    expect(full.headers.get('retry-after')).toBe('5');
    expect(full.body).toMatchObject({ code: 'LONGCALL_CAPACITY', retryable: true });
  });

  test('a process that ends answers who waits, and says so to who comes', async () => {
    const { origin, kit } = await site();
    const client = restClient(origin);
    const id = idOf(await client.start({ tool: 'gated' }));
    await kit.gate.next();
    const waiting = client.ask(`/jobs/${id}/wait`);
    kit.side.runtime.drain();
    const late = await client.start({ tool: 'echo' });
    expect(late.status).toBe(503);
    expect(late.body).toMatchObject({ code: 'LONGCALL_DRAINING', retryAfterMs: 5000 });
    await kit.side.runtime.close(0);
    expect([200, 503]).toContain((await waiting).status);
  });
});
