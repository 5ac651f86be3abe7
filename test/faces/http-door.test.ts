import { request as httpRequest } from 'node:http';
import { expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { createKit } from './face-kit.ts';
import { auth, caller2026, errorOf, initialize, post, postRaw, resultOf } from './wire.ts';

const DISCOVER = (url: string) =>
  caller2026(url, 'alice').request('server/discover', {}, { id: 7 });

/** fetch does not let a test name its own Host. */
function withHost(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const { body, headers: own } = DISCOVER(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        hostname,
        port,
        path: pathname,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...own, ...headers },
      },
      (res) => {
        res.resume();
        res.on('end', () => resolve(res.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

test('there is one endpoint: every other path is 404', async () => {
  const { url } = await (await createKit()).http();
  const elsewhere = await post(url.replace('/mcp', '/other'), '{}', { headers: auth('alice') });
  expect(elsewhere.status).toBe(404);
  const queried = await post(`${url}?a=1`, '{', { headers: auth('alice') });
  expect(queried.status).toBe(400);
});

verifies(['G1-133', 'G2-162'], 'a foreign Origin or Host is refused with 403', async () => {
  const { url } = await (await createKit({ face: { allowedHosts: ['mcp.example'] } })).http();
  expect(await withHost(url, {})).toBe(200);
  expect(await withHost(url, { host: 'localhost:1' })).toBe(200);
  expect(await withHost(url, { host: 'MCP.example' })).toBe(200);
  expect(await withHost(url, { host: 'evil.example' })).toBe(403);
  expect(await withHost(url, { host: 'localhost.evil.example' })).toBe(403);
  expect(await withHost(url, { origin: 'http://localhost:6274' })).toBe(200);
  expect(await withHost(url, { origin: 'https://mcp.example' })).toBe(200);
  expect(await withHost(url, { origin: 'http://evil.example' })).toBe(403);
  expect(await withHost(url, { origin: 'null' })).toBe(403);
});

test('a caller without a known token gets 401 with a challenge, before anything is read', async () => {
  const { url } = await (await createKit()).http();
  const { body, headers } = caller2026(url, undefined).request('server/discover');
  const missing = await post(url, JSON.stringify(body), { headers });
  expect(missing.status).toBe(401);
  expect(missing.headers.get('www-authenticate')).toBe('Bearer realm="longcall"');
  expect(errorOf(missing)['code']).toBeTypeOf('number');
  const unknown = await post(url, '{', { headers: auth('nobody') });
  expect(unknown.status).toBe(401);
  expect(unknown.headers.get('www-authenticate')).toContain('error="invalid_token"');
});

test('anonymous callers are served where the operator allows it', async () => {
  const { url } = await (await createKit({ allowAnonymous: true })).http();
  expect((await caller2026(url, undefined).call('server/discover')).status).toBe(200);
  expect((await caller2026(url, 'nobody').call('server/discover')).status).toBe(401);
});

test('a body that is no JSON is -32700 with HTTP 400 and a null id', async () => {
  const { url } = await (await createKit()).http();
  const bodies = ['{', '', 'nonsense', '{"jsonrpc":"2.0",'];
  const answers = await Promise.all(
    bodies.map((body) => post(url, body, { headers: auth('alice') })),
  );
  for (const answer of answers) {
    expect(answer.status).toBe(400);
    expect(errorOf(answer)['code']).toBe(-32_700);
    expect(answer.body['id']).toBeNull();
  }
});

test('a body that is no UTF-8 is -32700', async () => {
  const { url } = await (await createKit()).http();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...auth('alice') },
    body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
  });
  expect(response.status).toBe(400);
  expect(errorOf((await response.json()) as never)['code']).toBe(-32_700);
});

const INVALID: readonly (readonly [what: string, body: string, id: unknown])[] = [
  ['a bare value', '1', null],
  ['no jsonrpc', '{"id":4,"method":"ping"}', 4],
  ['no method', '{"jsonrpc":"2.0","id":4}', null],
  ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', null],
  ['a fractional id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null],
  ['positional params', '{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}', 4],
  [
    'a response with both',
    '{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":""}}',
    null,
  ],
];

test.each(INVALID)('%s is -32600 with HTTP 400', async (_what, body, id) => {
  const { url } = await (await createKit()).http();
  const answer = await post(url, body, { headers: auth('alice') });
  expect(answer.status).toBe(400);
  expect(errorOf(answer)['code']).toBe(-32_600);
  expect(answer.body['id']).toBe(id);
});

test('JSON that nests too deep or names __proto__ is refused', async () => {
  const { url } = await (await createKit()).http();
  const { body, headers } = DISCOVER(url);
  const text = JSON.stringify(body);
  const deep = text.replace('"params":{', `"params":{"x":${'['.repeat(80)}${']'.repeat(80)},`);
  const proto = text.replace('"params":{', '"params":{"a":{"__proto__":{"admin":true}},');
  const answers = await Promise.all([deep, proto].map((sent) => post(url, sent, { headers })));
  for (const answer of answers) {
    expect(answer.status).toBe(400);
    expect(errorOf(answer)['code']).toBe(-32_600);
    expect(answer.body['id']).toBe(7);
  }
  expect('admin' in {}).toBe(false);
});

test('a body beyond the limit is 413 with a JSON-RPC error, announced or not', async () => {
  const { url } = await (await createKit({ face: { maxBodyBytes: 1000 } })).http();
  const announced = await post(url, `"${'x'.repeat(2000)}"`, { headers: auth('alice') });
  expect(announced.status).toBe(413);
  expect(errorOf(announced)['code']).toBe(-32_600);
  const chunked = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...auth('alice') },
    body: new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('"'.padEnd(1500, 'x')));
        controller.close();
      },
    }),
    duplex: 'half',
  });
  expect(chunked.status).toBe(413);
});

test('a body that is not announced as JSON is 415, another method 405', async () => {
  const { url } = await (await createKit()).http();
  const plain = await postRaw(url, '{}', {
    headers: { ...auth('alice'), 'content-type': 'text/plain' },
  });
  expect(plain.status).toBe(415);
  const put = await fetch(url, { method: 'PUT', headers: auth('alice'), body: '{}' });
  expect(put.status).toBe(405);
  expect(put.headers.get('allow')).toContain('POST');
});

verifies(
  ['G2-156', 'G2-160'],
  'GET and DELETE do not exist for 2026-07-28, and its answers name no session',
  async () => {
    const { url } = await (await createKit()).http();
    const headers = {
      ...auth('alice'),
      'mcp-protocol-version': '2026-07-28',
      accept: 'text/event-stream',
    };
    const statuses = await Promise.all(
      ['GET', 'DELETE'].map(async (method) => (await fetch(url, { method, headers })).status),
    );
    expect(statuses).toEqual([405, 405]);
    const answer = await caller2026(url, 'alice').call(
      'server/discover',
      {},
      {
        headers: { 'mcp-session-id': 'ses_of_somebody', 'last-event-id': '1-1' },
      },
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  },
);

test('a message of 2026-07-28 never travels in a batch, an empty batch is none', async () => {
  const { url } = await (await createKit()).http();
  const { body, headers } = DISCOVER(url);
  const bodies = [
    JSON.stringify([body]),
    '[]',
    JSON.stringify(Array.from({ length: 101 }, () => ({}))),
  ];
  const answers = await Promise.all(bodies.map((sent) => post(url, sent, { headers })));
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
  expect(answers.map((answer) => errorOf(answer)['code'])).toEqual([-32_600, -32_600, -32_600]);
});

test('an answer of this server is never cached on the way', async () => {
  const { url } = await (await createKit()).http();
  const answer = await caller2026(url, 'alice').call('tasks/get', { taskId: 'tsk_none' });
  expect(answer.headers.get('cache-control')).toContain('no-store');
});

test('a closing face takes nothing new', async () => {
  const { url, face } = await (await createKit()).http();
  await face.close();
  const answer = await initialize(url, 'alice');
  expect(answer.status).toBe(503);
  expect(errorOf(answer)['data']).toMatchObject({ reason: 'draining' });
  expect(() => resultOf(answer)).toThrow('no result');
});
