import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, ask, openDoor } from './door.ts';
import type { Door } from './door.ts';
import { endTask, recordTask } from './records.ts';

let door: Door;
let taskId = '';
beforeAll(async () => {
  door = await openDoor();
  const task = await recordTask(door.store, { tool: 'pay', effect: 'consequential' });
  await endTask(door.store, task.id);
  taskId = task.id;
});
afterAll(() => door.close());

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request with exactly these headers: `fetch` does not let its caller choose Host and Origin. */
function send(path: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${door.url}${path}`, { method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

const ROUTES = [
  ['GET', '/admin/v1/tasks'],
  ['GET', '/admin/v1/tasks/:id'],
  ['GET', '/admin/v1/tasks/:id/result'],
  ['GET', '/admin/v1/tasks/:id/watch'],
  ['POST', '/admin/v1/tasks/:id/cancel'],
  ['GET', '/admin/v1/operations'],
  ['GET', '/admin/v1/operations/op_none'],
  ['GET', '/admin/v1/manifests'],
  ['GET', '/admin/v1/status'],
  ['GET', '/admin/v1/events'],
  ['GET', '/metrics'],
  ['GET', '/admin/v1/nothing-here'],
  ['GET', '/'],
] as const;

const concrete = (path: string): string => path.replace(':id', taskId);

describe('without the token', () => {
  test.each(ROUTES)('%s %s is 401, whether it exists or not', async (method, path) => {
    const answer = await send(concrete(path), { 'content-type': 'application/json' }, method);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'LONGCALL_ADMIN_DENIED' } });
  });

  test.each([
    ['another token', `Bearer ${ADMIN_TOKEN.replace('9', '8')}`],
    ['its beginning', `Bearer ${ADMIN_TOKEN.slice(0, -1)}`],
    ['something more', `Bearer ${ADMIN_TOKEN}x`],
    ['no scheme', ADMIN_TOKEN],
    ['another scheme', `Basic ${Buffer.from(`admin:${ADMIN_TOKEN}`).toString('base64')}`],
    ['nothing', 'Bearer '],
    ['two', `Bearer ${ADMIN_TOKEN} ${ADMIN_TOKEN}`],
  ])('%s is no token', async (_, authorization) => {
    expect((await send('/admin/v1/status', { authorization })).status).toBe(401);
  });

  test('a token in the query does not count', async () => {
    const answer = await send(
      `/admin/v1/status?token=${ADMIN_TOKEN}&access_token=${ADMIN_TOKEN}`,
      {},
    );
    expect(answer.status).toBe(401);
  });

  test('only the health route answers, and says nothing about what it serves', async () => {
    const answer = await send('/healthz', {});
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ ok: true });
  });

  test('nothing is read, recorded or stopped', async () => {
    const events = await door.store.events.list({ taskId, limit: 100 });
    expect(events.map(({ type }) => type)).not.toContain('admin.result_read');
    expect(events.map(({ type }) => type)).not.toContain('admin.cancel_requested');
  });

  test('the token never shows up in an answer or in the log', async () => {
    const answer = await send('/admin/v1/status', { authorization: `Bearer ${ADMIN_TOKEN}x` });
    expect(answer.body).not.toContain(ADMIN_TOKEN);
    expect(door.logged.join('\n')).not.toContain(ADMIN_TOKEN);
  });
});

describe('who may ask from a browser', () => {
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const statusFor = async (headers: Record<string, string>, path = '/admin/v1/status') =>
    (await send(path, { authorization, ...headers })).status;

  test.each(['127.0.0.1', '127.0.0.1:1234', 'localhost:8788', 'LOCALHOST', '[::1]:8788'])(
    'the loopback name %s is served',
    async (host) => {
      expect(await statusFor({ host })).toBe(200);
    },
  );

  test.each([
    'evil.example',
    'evil.example:8788',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
  ])('the name %s that was pointed at this machine is not', async (host) => {
    expect(await statusFor({ host })).toBe(403);
    expect(await statusFor({ host }, '/healthz')).toBe(403);
  });

  test.each(['evil.example#127.0.0.1', 'evil@127.0.0.1', '[::1].evil.example'])(
    '%j, which is no name at all, is not',
    async (host) => {
      expect([400, 403]).toContain(await statusFor({ host }));
    },
  );

  test.each([
    ['http://localhost:3000', 200],
    ['http://127.0.0.1:8788', 200],
    ['https://evil.example', 403],
    ['null', 403],
    ['file://', 403],
  ])('a page of %s gets %i', async (origin, status) => {
    expect(await statusFor({ origin })).toBe(status);
  });

  test('no answer carries a CORS header, and a preflight is refused', async () => {
    const origin = 'http://localhost:3000';
    const preflight = await send(
      `/admin/v1/tasks/${taskId}/cancel`,
      { origin, authorization, 'access-control-request-method': 'POST' },
      'OPTIONS',
    );
    expect(preflight.status).toBe(405);
    const answer = await send('/admin/v1/status', { origin, authorization });
    for (const { headers } of [preflight, answer])
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('a form of another site cannot write: only JSON is taken', async () => {
    const path = `/admin/v1/tasks/${taskId}/cancel`;
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data']) {
      const response = await ask(door, path, {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{}',
      });
      expect(response.status, type).toBe(415);
    }
  });
});

describe('every answer', () => {
  test.each([
    ['/admin/v1/status', 200],
    ['/admin/v1/nothing', 404],
    ['/admin/v1/tasks/tsk_none', 404],
    ['/metrics', 200],
    ['/healthz', 200],
  ])('%s is neither kept nor sniffed nor framed', async (path, status) => {
    const { headers, status: got } = await send(path, { authorization: `Bearer ${ADMIN_TOKEN}` });
    expect(got).toBe(status);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  test.each(['PUT', 'PATCH', 'DELETE', 'HEAD', 'TRACE'])('%s is not served', async (method) => {
    const answer = await send(
      '/admin/v1/tasks',
      { authorization: `Bearer ${ADMIN_TOKEN}` },
      method,
    );
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe('GET, POST');
  });
});

test('a store that is closed answers 503 and its code', async () => {
  const closed = await openDoor();
  await closed.store.close();
  const response = await ask(closed, '/admin/v1/tasks');
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ error: { code: 'LONGCALL_STORE_CLOSED' } });
  await closed.close();
});

test('an error of our own answers 500, and its text stays in the log', async () => {
  const broken = await openDoor({
    upstreams: () => {
      throw new Error('canary-of-the-inside');
    },
  });
  const response = await ask(broken, '/admin/v1/status');
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({
    error: { code: 'LONGCALL_INTERNAL', retryable: false },
  });
  expect(text).not.toContain('canary-of-the-inside');
  expect(broken.logged.join('\n')).toContain('canary-of-the-inside');
  await broken.close();
});
