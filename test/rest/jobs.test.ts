import { describe, expect, test } from 'vitest';
import { jobSchema, listSchema, resultSchema } from '../../src/faces/rest/schemas.ts';
import { objectAt, type JsonObject } from '../../src/kernel/json.ts';
import { createRouteMeter } from '../../src/runtime/route-meter.ts';
import { tool } from '../faces/face-kit.ts';
import { caller2026, resultOf, WITH_TASKS } from '../faces/wire.ts';
import { createJobSite, plainHost, textsOf } from '../job-tools/hosts.ts';
import { answered, until } from '../runtime/receiving-side.ts';
import { idOf, restClient } from './rest-client.ts';

const PAY = tool('gated', { effect: 'consequential' });
const site = (but: Parameters<typeof createJobSite>[0] = {}) =>
  createJobSite({ tools: [tool('gated'), tool('echo'), tool('asks')], ...but });

const resultOfJob = async (client: ReturnType<typeof restClient>, id: string) =>
  (await client.ask(`/jobs/${id}/result`)).body;

describe('a job over REST', () => {
  test('is started, waited for and read, and has both answers all the time', async () => {
    const { kit, origin } = await site({ tools: [PAY] });
    const client = restClient(origin);
    const started = await client.start({ tool: 'gated', arguments: { a: 1 } });
    expect(started.status).toBe(202);
    expect(started.headers.get('location')).toBe(`/jobs/${idOf(started)}`);
    expect(started.headers.get('retry-after')).toBe('1');
    expect(started.body).toMatchObject({
      tool: 'gated',
      protocol: { phase: 'working', ending: null },
      outcome: { name: 'not_sent', sendAgain: 'no' },
      operation: { state: 'intended' },
    });
    const id = idOf(started);
    const early = await client.ask(`/jobs/${id}/result`);
    expect(early.status).toBe(409);
    expect(early.body).toMatchObject({ code: 'LONGCALL_TASK_RUNNING', retryAfterMs: 1000 });

    const waited = client.ask(`/jobs/${id}/wait`);
    const run = await kit.gate.next();
    expect(run.request.arguments).toEqual({ a: 1 });
    await run.dispatched();
    kit.gate.end(run, answered('paid'));
    expect((await waited).body).toMatchObject({
      protocol: { phase: 'ended', ending: 'result', status: { '2026-07-28': 'completed' } },
      outcome: { name: 'answered', sendAgain: 'no' },
      operation: { state: 'acknowledged' },
      lookAgainAfterMs: null,
    });
    expect(await resultOfJob(client, id)).toMatchObject({
      ending: 'result',
      result: { content: [{ type: 'text', text: 'paid' }] },
      error: null,
    });
  });

  test('that ends within the time its start may wait is answered as ended', async () => {
    const { origin } = await site();
    const started = await restClient(origin).start({ tool: 'echo', waitMs: 10_000 });
    expect(started.status).toBe(200);
    expect(started.body).toMatchObject({ protocol: { ending: 'result' } });
  });

  test('no document has a member that is not described', async () => {
    const { kit, origin } = await site({ tools: [PAY] });
    const client = restClient(origin);
    const { body } = await client.start({ tool: 'gated' });
    expect(jobSchema.parse(body)).toEqual(body);
    kit.gate.end(await kit.gate.next(), answered('x'));
    await client.ask(`/jobs/${String(body['id'])}/wait`);
    const result = await resultOfJob(client, String(body['id']));
    expect(resultSchema.parse(result)).toEqual(result);
    const list = (await client.ask('/jobs')).body;
    expect(listSchema.parse(list)).toEqual(list);
  });

  test('is a task to hosts with Tasks and a job to hosts without', async () => {
    const { kit, origin, url } = await site();
    const taskId = idOf(await restClient(origin).start({ tool: 'gated' }));
    const modern = caller2026(url, 'alice', WITH_TASKS);
    expect(resultOf(await modern.call('tasks/get', { taskId }))).toMatchObject({
      status: 'working',
    });
    kit.gate.end(await kit.gate.next(), answered('the same'));
    const host = await plainHost(url, '2025-06-18');
    const waited = await host.call('longcall_wait', { job: taskId });
    expect(textsOf(waited).at(-1)).toBe('the same');
  });

  test('a wait is bounded, ends early on a question, and changes nothing', async () => {
    const { origin } = await site();
    const client = restClient(origin);
    const gated = idOf(await client.start({ tool: 'gated' }));
    const began = performance.now();
    expect((await client.ask(`/jobs/${gated}/wait?forMs=120`)).body).toMatchObject({
      protocol: { phase: 'working' },
    });
    expect(performance.now() - began).toBeGreaterThan(110);
    const asks = idOf(await client.start({ tool: 'asks', asks: ['elicitation-form'] }));
    const asked = await client.ask(`/jobs/${asks}/wait`);
    expect(asked.body).toMatchObject({ protocol: { phase: 'input_required' } });
  });

  test('asks only what its program said it can be asked, and takes the first answer of a key', async () => {
    const { origin } = await site();
    const client = restClient(origin);
    const mute = idOf(await client.start({ tool: 'asks', waitMs: 5_000 }));
    expect(JSON.stringify(await resultOfJob(client, mute))).toContain('undeclared');

    const started = await client.start({
      tool: 'asks',
      arguments: { again: true },
      asks: ['elicitation-form'],
      waitMs: 5_000,
    });
    const id = idOf(started);
    const [question] = started.body['questions'] as readonly JsonObject[];
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'go on?' } });
    const key = String(question?.['key']);
    const answer = (value: JsonObject) =>
      client.ask(`/jobs/${id}/answers`, { method: 'POST', body: { answers: { [key]: value } } });
    const wrong = await answer({ action: 'accept', content: { ok: 'maybe' } });
    expect(wrong.status).toBe(422);
    expect(wrong.body).toMatchObject({ code: 'LONGCALL_ANSWER_INVALID', key });
    expect((await answer({ action: 'accept', content: { ok: true } })).body).toMatchObject({
      taken: [key],
      ignored: [],
    });
    expect((await answer({ action: 'decline' })).body).toMatchObject({ taken: [], ignored: [key] });
    await client.ask(`/jobs/${id}/wait`);
    expect(JSON.stringify(await resultOfJob(client, id))).toContain('accept');
  });

  test('is told to stop, and says that its effect is not known', async () => {
    const { kit, origin } = await site({ tools: [PAY] });
    const client = restClient(origin);
    const id = idOf(await client.start({ tool: 'gated' }));
    const run = await kit.gate.next();
    await run.dispatched();
    const cancelled = await client.ask(`/jobs/${id}/cancel`, { method: 'POST' });
    expect(cancelled.body).toMatchObject({ kind: 'cancelled', job: { id } });
    const ended = await client.ask(`/jobs/${id}/wait`);
    expect(ended.body).toMatchObject({
      protocol: { ending: 'cancelled' },
      outcome: { name: 'not_known', sendAgain: 'no' },
    });
    expect(await resultOfJob(client, id)).toMatchObject({ ending: 'cancelled', result: null });
    const again = await client.ask(`/jobs/${id}/cancel`, { method: 'POST', body: {} });
    expect(again.body).toMatchObject({ kind: 'already_ended' });
  });

  test('a reader that has the latest answer already is told so', async () => {
    const { kit, origin } = await site();
    const client = restClient(origin);
    const id = idOf(await client.start({ tool: 'gated' }));
    const etagNow = async () => (await client.ask(`/jobs/${id}`)).headers.get('etag') ?? '';
    const knowing = (etag: string) => ({ headers: { 'if-none-match': `"other", ${etag}` } });
    let etag = '';
    // Until the record of the handle that has just left is written too: that is a change of its own.
    await until(async () => {
      etag = await etagNow();
      return (await client.ask(`/jobs/${id}`, knowing(etag))).status === 304;
    });
    kit.gate.end(await kit.gate.next(), answered('x'));
    await client.ask(`/jobs/${id}/wait`);
    const changed = await client.ask(`/jobs/${id}`, knowing(etag));
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  test('the list is the caller’s own, page by page', async () => {
    const { origin } = await site();
    const [alice, bob] = [restClient(origin, 'alice'), restClient(origin, 'bob')];
    const ids: string[] = [];
    for (let count = 0; count < 52; count += 1)
      ids.unshift(idOf(await alice.start({ tool: 'gated', arguments: { count } })));
    await bob.start({ tool: 'gated' });
    const first = (await alice.ask('/jobs')).body;
    const cursor = String(first['nextCursor']);
    const second = (await alice.ask(`/jobs?cursor=${encodeURIComponent(cursor)}`)).body;
    const listed = [first, second].flatMap(({ items }) => items as readonly JsonObject[]);
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(second['nextCursor']).toBeNull();
    expect((await bob.ask(`/jobs?cursor=${encodeURIComponent(cursor)}`)).status).toBe(400);
  });

  test('its route is counted', async () => {
    const routes = createRouteMeter();
    const { origin } = await site({ face: { routes } });
    await restClient(origin).start({ tool: 'echo' });
    expect(routes.counts()).toEqual([{ route: 'handle', reason: 'task-optional:rest', count: 1 }]);
  });
});

describe('a start that comes twice', () => {
  const START = { tool: 'gated', arguments: { invoice: 7 } };

  test('under one key, in body or header, is one call', async () => {
    const { origin, kit } = await site({ tools: [PAY] });
    const client = restClient(origin);
    const first = await client.start({ ...START, idempotencyKey: 'k1' });
    const headers = { 'idempotency-key': 'k1' };
    const second = await client.start(START, { headers });
    expect(idOf(second)).toBe(idOf(first));
    expect(first.body['deduplicated']).toBeUndefined();
    expect(second.body['deduplicated']).toBe('key');
    expect(await kit.side.store.attempts.listOf(idOf(first))).toHaveLength(1);
    const both = await client.start({ ...START, idempotencyKey: 'k2' }, { headers });
    expect(both.status).toBe(400);
    const quoted = await client.start(START, { headers: { 'idempotency-key': '"k1"' } });
    expect(idOf(quoted)).toBe(idOf(first));
    const twice = await client.start(START, { headers: { 'idempotency-key': 'k1, k3' } });
    expect(twice.status).toBe(400);
  });

  test('under one key with other arguments is a conflict, and nothing runs', async () => {
    const { origin } = await site({ tools: [PAY] });
    const client = restClient(origin);
    await client.start({ ...START, idempotencyKey: 'k' });
    const other = await client.start({ ...START, arguments: { invoice: 8 }, idempotencyKey: 'k' });
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({ code: 'LONGCALL_IDEMPOTENCY_CONFLICT', retryable: false });
    const items = (await client.ask('/jobs')).body['items'] as readonly JsonObject[];
    expect(items).toHaveLength(1);
  });

  test('without a key is the first one again, until another one is meant', async () => {
    const { origin } = await site({ tools: [PAY] });
    const client = restClient(origin);
    const first = await client.start(START);
    const second = await client.start(START);
    expect(idOf(second)).toBe(idOf(first));
    expect(second.body['deduplicated']).toBe('guard');
    const another = await client.start({ ...START, newOperation: true });
    expect(idOf(another)).not.toBe(idOf(first));
  });

  test('with a key that can be none is refused', async () => {
    const { origin } = await site({ tools: [PAY] });
    const long = await restClient(origin).start({ ...START, idempotencyKey: 'k'.repeat(129) });
    expect(long.status).toBe(400);
    expect(long.body).toMatchObject({ code: 'LONGCALL_IDEMPOTENCY_KEY_INVALID' });
  });
});

test('a reader of a result has its outcome delivered, and only then', async () => {
  const { kit, origin } = await site({ tools: [PAY] });
  const client = restClient(origin);
  const id = idOf(await client.start({ tool: 'gated' }));
  const run = await kit.gate.next();
  await run.dispatched();
  kit.gate.end(run, answered('x'));
  const ended = await client.ask(`/jobs/${id}/wait`);
  const operationId = String(objectAt(ended.body, 'operation')?.['id']);
  const deliveredAt = async () =>
    (await kit.side.store.operations.get('system', operationId))?.deliveredAt;
  expect(await deliveredAt()).toBeUndefined();
  await client.ask(`/jobs/${id}/result`);
  await until(async () => (await deliveredAt()) !== undefined);
});
