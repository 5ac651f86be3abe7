import { expect, onTestFinished, test } from 'vitest';
import { stateAfterCall } from '../../src/ledger/operation.ts';
import { startMutatingProxy } from '../wire/mutants/proxy.ts';
import { effectsLog, httpFixture, startGateway, until } from './gateway-kit.ts';
import { run } from './test-job.ts';

/** A gateway in front of a task server that one day tells it no more about its tasks. */
async function scene() {
  const effects = effectsLog();
  const upstream = await httpFixture('tasks-2026', effects);
  const seen: string[] = [];
  let status: number | undefined;
  const front = await startMutatingProxy(upstream.url, {
    answer({ body }) {
      const method = String(body?.['method']);
      seen.push(method);
      return status !== undefined && method === 'tasks/get' ? { status } : undefined;
    },
  });
  onTestFinished(() => front.stop());
  const gateway = await startGateway({
    upstreams: [{ endpoint: { kind: 'http', url: front.url } }],
  });
  return {
    gateway,
    effects,
    seen: (method: string) => seen.filter((heard) => heard === method).length,
    answerReadsWith: (code: number | undefined) => (status = code),
  };
}

test.each([401, 403, 503])(
  'a task that is not told any more (HTTP %i) is not over: it is looked at again, and its result is taken when it is told',
  async (status) => {
    const { gateway, effects, seen, answerReadsWith } = await scene();
    const call = run(gateway, { tool: 'slow_compute', arguments: { seconds: 0.5, label: 'told' } });
    await until(() => expect(seen('tasks/get')).toBeGreaterThan(0));
    answerReadsWith(status);
    await until(() => expect(effects.lines('told').at(-1)?.event).toBe('finish'));
    answerReadsWith(undefined);
    expect(await call.end).toMatchObject({ end: 'answered', outcome: { kind: 'result' } });
    expect(seen('tools/call')).toBe(1);
  },
);

test('a task that is never told again leaves its operation unknown at the run limit, and is not called again', async () => {
  const { gateway, seen, answerReadsWith } = await scene();
  const call = run(gateway, { tool: 'slow_compute', arguments: { seconds: 60, label: 'mute' } });
  await until(() => expect(seen('tasks/get')).toBeGreaterThan(0));
  answerReadsWith(403);
  const before = seen('tasks/get');
  await until(() => expect(seen('tasks/get')).toBeGreaterThan(before + 1));
  call.stop('run_limit');
  const { end } = await call.end;
  expect(stateAfterCall('dispatched', end)).toBe('unknown');
  expect(seen('tools/call')).toBe(1);
});
