import { describe, expect, onTestFinished, test } from 'vitest';
import { objectAt, type JsonObject } from '../../src/kernel/json.ts';
import { createKit, tool } from '../faces/face-kit.ts';
import { caller2025, caller2026, resultOf, stream, textOf } from '../faces/wire.ts';
import { httpFixture, startGateway, until as eventually } from '../gateway/gateway-kit.ts';
import { serveRawHttp, type RawExchange } from '../gateway/servers/raw-http.ts';
import { run } from '../gateway/test-job.ts';
import { answered, settleDown, until } from '../runtime/receiving-side.ts';
import { startMutatingProxy } from '../wire/mutants/proxy.ts';
import { AS_TASK, GATED, GENERATIONS, openPipe } from './pipe.ts';

const asTaskId = (answer: JsonObject): string => {
  const result = resultOf(answer);
  return String(objectAt(result, 'task')?.['taskId'] ?? result['taskId']);
};

describe('notifications/cancelled', () => {
  test.each(GENERATIONS)(
    'stops the plain call that it names, and is heard by its handler (%s) [C3]',
    async (generation) => {
      const { kit, open, cancel, answerTo } = await openPipe();
      open(generation, 'one', GATED);
      const one = await kit.gate.next();
      open(generation, 'two', GATED);
      const two = await kit.gate.next();
      cancel('one');
      await until(() => one.signal.aborted);
      expect(two.signal.aborted).toBe(false);
      kit.gate.end(two, answered('unharmed'));
      expect(textOf(resultOf(await answerTo('two')))).toContain('unharmed');
    },
  );

  test.each(GENERATIONS)(
    'of a call that has returned its task stops nothing: tasks/cancel does (%s) [C3]',
    async (generation) => {
      const { kit, open, cancel, answerTo } = await openPipe([tool('gated')]);
      open(generation, 'create', AS_TASK);
      const taskId = asTaskId(await answerTo('create'));
      const job = await kit.gate.next();
      cancel('create');
      open(generation, 'get', ['tasks/get', { taskId }]);
      expect(resultOf(await answerTo('get'))).toMatchObject({ status: 'working' });
      expect(job.signal.aborted).toBe(false);
      open(generation, 'cancel', ['tasks/cancel', { taskId }]);
      expect(resultOf(await answerTo('cancel'))).toBeDefined();
      await until(() => job.signal.aborted);
      expect(await kit.side.outcome(job.task)).toEqual({ kind: 'cancelled' });
    },
  );

  test('in one session stops no call of another that has the same id [C3]', async () => {
    const kit = await createKit({ tools: [tool('gated', { mode: 'sync' })] });
    const { url } = await kit.http();
    const [mine, other] = [await caller2025(url, 'alice'), await caller2025(url, 'alice')];
    const call = mine.open('tools/call', { name: 'gated', arguments: {} }, { id: 7 });
    const job = await kit.gate.next();
    const params = { requestId: 7 };
    expect((await other.send({ method: 'notifications/cancelled', params })).status).toBe(202);
    await settleDown();
    expect(job.signal.aborted).toBe(false);
    kit.gate.end(job, answered('unharmed'));
    expect(textOf(resultOf((await (await stream(call)).rest()).at(-1) ?? {}))).toContain(
      'unharmed',
    );
  });
});

test.each(GENERATIONS)(
  'tasks/cancel that overtakes the answer with the handle counts (%s) [C3]',
  async (generation) => {
    const kit = await createKit({ tools: [tool('gated', { syncWindowMs: 0 })] });
    const { url } = await kit.http();
    const alice =
      generation === '2025-11-25' ? await caller2025(url, 'alice') : caller2026(url, 'alice');
    const create = alice.call('tools/call', { name: 'gated', arguments: {}, task: {} });
    const { task } = await kit.gate.next();
    expect((await alice.call('tasks/cancel', { taskId: task.id })).body['error']).toBeUndefined();
    expect(await kit.side.outcome(task)).toEqual({ kind: 'cancelled' });
    const taskId = asTaskId((await create).body);
    expect(taskId).toBe(task.id);
    expect(resultOf(await alice.call('tasks/get', { taskId }))).toMatchObject({
      status: 'cancelled',
    });
  },
);

describe('a gateway passes a cancel on', () => {
  test('of a plain call as notifications/cancelled with the id of that call [C3]', async () => {
    const held: RawExchange[] = [];
    const server = await serveRawHttp((exchange) => {
      if (exchange.message['method'] !== 'tools/call') return false;
      held.push(exchange);
      return true;
    });
    const gateway = await startGateway({
      upstreams: [{ endpoint: { kind: 'http', url: server.url } }],
    });
    const call = run(gateway, { tool: 'call' });
    await eventually(() => expect(held).toHaveLength(1));
    call.stop('cancelled');
    expect(await call.end).toMatchObject({ end: 'cancelled' });
    const cancels = () =>
      server.seen.filter(({ message }) => message['method'] === 'notifications/cancelled');
    await eventually(() => expect(cancels()).toHaveLength(1));
    expect(objectAt(cancels()[0]?.message, 'params')).toMatchObject({
      requestId: held[0]?.message['id'],
    });
  });

  test.each([
    ['tasks-v1', 'export_report', { ms: 60_000, tag: 'c' }],
    ['tasks-2026', 'slow_compute', { seconds: 60, label: 'c' }],
  ] as const)(
    'of a task of the upstream (%s) as tasks/cancel, and never of the call that is over [C3]',
    async (name, longTool, args) => {
      const upstream = await httpFixture(name);
      const seen: JsonObject[] = [];
      const front = await startMutatingProxy(upstream.url, {
        answer: ({ body }) => void (body && seen.push(body as JsonObject)),
      });
      onTestFinished(() => front.stop());
      const gateway = await startGateway({
        upstreams: [{ endpoint: { kind: 'http', url: front.url } }],
      });
      const call = run(gateway, { tool: longTool, arguments: args });
      await eventually(() => expect(call.journal).not.toHaveLength(0));
      call.stop('cancelled');
      await call.end;
      const by = (method: string) => seen.filter((message) => message['method'] === method);
      expect(by('tasks/cancel')).toHaveLength(1);
      expect(objectAt(by('tasks/cancel')[0], 'params')).toMatchObject({
        taskId: call.journal[0]?.taskId,
      });
      const [{ id } = {} as JsonObject] = by('tools/call');
      const named = by('notifications/cancelled').map(
        (message) => objectAt(message, 'params')?.['requestId'],
      );
      expect(named).not.toContain(id);
    },
  );
});
