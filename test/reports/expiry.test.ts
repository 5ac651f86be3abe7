import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { InputAnswer } from '../../src/protocol/model.ts';
import type { Reply } from '../../src/runtime/job.ts';
import { formParams, tool } from '../faces/face-kit.ts';
import {
  caller2025,
  caller2026,
  errorOf,
  resultOf,
  stream,
  textOf,
  type Answer,
} from '../faces/wire.ts';
import { createJobSite, plainHost, textsOf } from '../job-tools/hosts.ts';
import { restClient } from '../rest/rest-client.ts';
import { createJournalledSide, result } from '../runtime/journalled-side.ts';
import {
  ALICE,
  answered,
  BOB,
  createReceivingSide,
  payTool,
  settleDown,
  stopped,
  toldToStop,
  until,
} from '../runtime/receiving-side.ts';

const NONE = 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA';

/** Every way to a task: both generations, job tools and REST, on one listener with a clock that a test moves. */
async function scene(tools = [tool('gated'), tool('asks')]) {
  const clock = createManualClock();
  const { kit, origin, url } = await createJobSite({
    tools,
    clock,
    face: { clock, sessionIdleMs: 1e12 },
  });
  const modern = caller2026(url, 'alice');
  const session = await caller2025(url, 'alice');
  const host = await plainHost(url, '2025-06-18');
  const rest = restClient(origin);
  const create = async (name: string, task: JsonObject = {}): Promise<JsonObject> =>
    resultOf(await session.tool(name, {}, { task }))['task'] as JsonObject;
  const wire = (answer: Promise<Answer>): Promise<JsonObject> => answer.then(({ body }) => body);

  /** What each method says of that id. Cancels come last. */
  const everyWay = async (taskId: string): Promise<Readonly<Record<string, JsonObject>>> => ({
    '2025 tasks/get': await wire(session.call('tasks/get', { taskId })),
    '2026 tasks/get': await wire(modern.call('tasks/get', { taskId })),
    '2026 tasks/update': await wire(modern.call('tasks/update', { taskId, inputResponses: {} })),
    '2025 tasks/result': await wire(session.call('tasks/result', { taskId })),
    longcall_result: await host.call('longcall_result', { job: taskId }),
    longcall_wait: await host.call('longcall_wait', { job: taskId }),
    longcall_answer: await host.call('longcall_answer', { job: taskId, content: {} }),
    'GET /jobs/{id}': (await rest.ask(`/jobs/${taskId}`)).body,
    'GET /jobs/{id}/wait': (await rest.ask(`/jobs/${taskId}/wait`)).body,
    'GET /jobs/{id}/result': (await rest.ask(`/jobs/${taskId}/result`)).body,
    '2025 tasks/cancel': await wire(session.call('tasks/cancel', { taskId })),
    '2026 tasks/cancel': await wire(modern.call('tasks/cancel', { taskId })),
    longcall_cancel: await host.call('longcall_cancel', { job: taskId }),
    'POST /jobs/{id}/cancel': (
      await rest.ask(`/jobs/${taskId}/cancel`, { method: 'POST', body: {} })
    ).body,
  });
  return { kit, clock, session, modern, host, rest, create, everyWay, url };
}

/** Whether an answer says, in its own way, that there is no such task. */
const saysNone = (body: JsonObject): boolean =>
  (body['error'] as JsonObject | undefined)?.['code'] === -32_602 ||
  body['code'] === 'LONGCALL_TASK_UNKNOWN' ||
  (body['isError'] === true && textsOf(body).join(' ').includes('There is no such job'));

const waysThat = (
  ways: Readonly<Record<string, JsonObject>>,
  holds: (body: JsonObject) => boolean,
) => Object.entries(ways).flatMap(([name, body]) => (holds(body) ? [name] : []));

describe('a task that runs longer than the ttl that was asked for', () => {
  test('is there all the time, and its result for as long after it as was asked [E1]', async () => {
    const { kit, clock, session, create } = await scene();
    const { taskId, ttl } = await create('gated', { ttl: 2_000 });
    const job = await kit.gate.next();
    for (let polled = 0; polled < 10; polled += 1) {
      clock.advance(500);
      await settleDown();
      const read = resultOf(await session.call('tasks/get', { taskId }));
      expect(read).toMatchObject({ status: 'working', ttl });
    }
    kit.gate.end(job, answered('after 5 s'));
    await kit.side.outcome(job.task);
    clock.advance(1_999);
    await kit.side.runtime.sweep();
    const read = resultOf(await session.call('tasks/result', { taskId }));
    expect(textOf(read)).toContain('after 5 s');
  });

  test('ends by its run limit, with words, and is not deleted while it runs [E1]', async () => {
    const clock = createManualClock();
    const side = await createReceivingSide({ clock, run: () => new Promise(() => undefined) });
    await side.open();
    const task = await side.call({ wantedTtlMs: 0 });
    await until(() => side.engine.runningCount() === 1);
    clock.advance(task.ttlMs - 1 - 86_400_000); // all of it but the time for people and its end
    await side.runtime.sweep();
    expect(await side.outcome(task)).toMatchObject({ error: { data: { reason: 'run_limit' } } });
  });
});

describe('a handler that waits for an answer when its record expires', () => {
  test('is woken and told to stop, and nothing reaches its task any more [E2]', async () => {
    const clock = createManualClock();
    const seen: unknown[] = [];
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        await job.dispatched();
        const replies: readonly Reply[] = await job.ask([
          { method: 'elicitation/create', params: formParams() },
        ]);
        seen.push(replies.map(({ kind }) => kind));
        await toldToStop(job.signal);
        seen.push(job.signal.reason);
        return stopped;
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(async () => (await side.row(task)).phase === 'input_required');
    clock.jump(task.ttlMs);
    expect((await side.runtime.sweep()).overdue).toBe(1);
    await until(() => seen.length === 2);
    expect(seen).toEqual([['expired'], 'run_limit']);
    await until(() => side.runtime.stats().running === 0 && side.engine.runningCount() === 0);
    const { receiver } = side.runtime;
    expect(await receiver.answer(ALICE, task.id, {})).toEqual({ kind: 'missing' });
    for (const how of ['at-once', 'cooperative'] as const)
      expect(await receiver.cancel(ALICE, task.id, how)).toEqual({ kind: 'missing' });
    expect(await side.operationState(task)).toBe('unknown');
  });

  test('and sleeps in the store meanwhile leaves nothing behind that could wake [E2]', async () => {
    let runs = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        runs += 1;
        await job.ask('approve', {
          message: 'Go on?',
          schema: { type: 'object', properties: { ok: { type: 'boolean' } } },
        });
        return result('went on');
      },
    });
    const task = await side.begin();
    const parked = async () =>
      (await side.store.attempts.listOf(task.id)).at(-1)?.state === 'parked';
    await until(parked);
    const [{ key } = { key: '' }] = await side.store.inputs.listPending('system', task.id);
    side.clock.jump(task.ttlMs);
    await side.runtime.sweep();
    const yes: InputAnswer = {
      kind: 'result',
      result: { action: 'accept', content: { ok: true } },
    };
    expect(await side.runtime.receiver.answer(ALICE, task.id, { [key]: yes })).toEqual({
      kind: 'missing',
    });
    await side.runtime.sweep();
    await settleDown();
    expect(runs).toBe(1);
    expect(await side.store.attempts.listOf(task.id)).toEqual([]);
    expect(side.runtime.stats()).toMatchObject({ running: 0, parked: 0 });
  });
});

describe('the moment of expiry', () => {
  test('is the same for every method of every face, before any sweep [E3]', async () => {
    const { kit, clock, create, everyWay, session, rest, host } = await scene();
    const { taskId } = await create('gated', { ttl: 60_000 });
    const job = await kit.gate.next();
    kit.gate.end(job, answered('done'));
    await kit.side.outcome(job.task);
    clock.advance(job.task.ttlMs - 1);
    expect(waysThat(await everyWay(String(taskId)), saysNone)).toEqual(['2025 tasks/cancel']);
    clock.advance(1);
    const ways = await everyWay(String(taskId));
    expect(waysThat(ways, (body) => !saysNone(body))).toEqual([]);
    expect(resultOf(await session.call('tasks/list'))['tasks']).toEqual([]);
    expect((await rest.ask('/jobs')).body['items']).toEqual([]);
    expect(textsOf(await host.call('longcall_list')).join(' ')).not.toContain(String(taskId));
  });
});

describe('who waits when the record expires', () => {
  test('gets an answer, on every way of waiting [E6]', async () => {
    const { kit, clock, create, session, modern, host, rest } = await scene();
    const { taskId } = await create('gated');
    const { task } = await kit.gate.next();
    const results = await stream(session.open('tasks/result', { taskId }, { id: 'r' }));
    const listen = await stream(
      modern.open(
        'subscriptions/listen',
        { notifications: { taskIds: [String(taskId)] } },
        { id: 'l' },
      ),
    );
    const waits = Promise.all([
      results.rest(),
      listen.rest(),
      host.call('longcall_wait', { job: String(taskId) }),
      rest.ask(`/jobs/${String(taskId)}/wait`),
    ]);
    await until(() => kit.side.runtime.stats().waiters === 3);
    clock.jump(task.ttlMs);
    await kit.side.runtime.sweep();
    const [result2025, events, waited, answer] = await waits;
    expect(result2025.at(-1)).toMatchObject({ id: 'r', error: { code: -32_602 } });
    expect(events.at(-1)).toMatchObject({ id: 'l', result: { resultType: 'complete' } });
    expect([saysNone(waited), saysNone(answer.body)]).toEqual([true, true]);
  });

  test('and comes back with the same call hears that it was made, which nobody else does [E6]', async () => {
    const clock = createManualClock();
    const side = await createReceivingSide({
      clock,
      run: async (job) => (await job.dispatched(), answered('paid')),
    });
    await side.open();
    const call = { tool: payTool, idempotencyKey: 'k-1' };
    const task = await side.call(call);
    await side.outcome(task);
    clock.advance(task.ttlMs);
    await side.runtime.sweep();
    const { receiver } = side.runtime;
    const again = {
      principal: ALICE,
      arguments: {},
      meta: {},
      origin: '2026-07-28',
      asks: [],
    } as const;
    expect(await receiver.start({ ...again, ...call })).toMatchObject({
      kind: 'known',
      operation: { id: task.operationId, state: 'acknowledged' },
    });
    expect(await receiver.start({ ...again, ...call, principal: BOB })).toMatchObject({
      kind: 'started',
    });
  });
});

describe('an id that nobody has ever given out', () => {
  test('is answered as unknown at once, and never as working [E7]', async () => {
    const { everyWay, modern } = await scene();
    expect(waysThat(await everyWay(NONE), (body) => !saysNone(body))).toEqual([]);
    const listen = await modern.call('subscriptions/listen', {
      notifications: { taskIds: [NONE] },
    });
    expect(JSON.stringify(listen.messages)).not.toContain('working');
    expect(errorOf(await modern.call('tasks/get', { taskId: NONE }))['code']).toBe(-32_602);
  });
});
