import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/protocol/model.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  effectsLog,
  httpFixture,
  startGateway,
  stdioEndpoint,
  textOf,
  until,
} from './gateway-kit.ts';
import { accept, EVERY_ASK, run } from './test-job.ts';

const textOfOutcome = (outcome: Outcome): string =>
  textOf(outcome.kind === 'result' ? outcome.result : {});

async function start(name: 'tasks-v1' | 'tasks-2026', kind: 'stdio' | 'http') {
  const effects = effectsLog();
  const http = kind === 'http' ? await httpFixture(name, effects) : undefined;
  const endpoint = http ? ({ kind: 'http', url: http.url } as const) : stdioEndpoint(name, effects);
  const gateway = await startGateway({ upstreams: [{ endpoint }] });
  return { effects, endpoint, gateway };
}

describe.each(['stdio', 'http'] as const)(
  'an upstream of 2025-11-25 that runs tasks itself, over %s',
  (kind) => {
    test('its task is journalled, observed, and its result is ours', async () => {
      const { gateway } = await start('tasks-v1', kind);
      expect(gateway.manifests()[0]).toMatchObject({ ownTasks: '2025-11-25' });
      const call = run(gateway, { tool: 'rebuild_index', arguments: { tag: 'r', ms: 300 } });
      const { outcome, end } = await call.end;
      expect(end).toBe('answered');
      expect(textOfOutcome(outcome)).toBe('worked on r');
      expect(outcome).not.toHaveProperty('result._meta'); // the related task is the upstream's own
      expect(call.journal).toMatchObject([{ generation: '2025-11-25', pollIntervalMs: 100 }]);
    });

    verifies('G1-08', 'a tool that takes no task is never sent one', async () => {
      const { gateway } = await start('tasks-v1', kind);
      const call = run(gateway, { tool: 'quick' });
      expect(textOfOutcome((await call.end).outcome)).toBe('quick');
      expect(call.journal).toEqual([]);
    });

    verifies('T8', 'a failed task still has its result', async () => {
      const { gateway } = await start('tasks-v1', kind);
      const { outcome, end } = await run(gateway, {
        tool: 'failing_export',
        arguments: { tag: 'f', ms: 100 },
      }).end;
      expect(end).toBe('tool_error');
      expect(textOfOutcome(outcome)).toBe('worked on f');
    });

    verifies(['T3', 'G1-44'], 'its questions come on the held tasks/result', async () => {
      const { gateway, effects } = await start('tasks-v1', kind);
      const call = run(gateway, { tool: 'ask_in_task', arguments: { tag: 'q' }, asks: EVERY_ASK });
      await until(() => expect(call.questions).toHaveLength(1));
      expect(call.questions[0]?.params['message']).toBe('May q go on?');
      expect(call.questions[0]?.params).not.toHaveProperty('_meta');
      expect(call.statuses).toContain('waiting for an answer');
      call.questions[0]?.answer(accept({ answer: 'it may' }));
      expect(textOfOutcome((await call.end).outcome)).toContain('it may');
      expect(effects.lines('q').at(-2)?.detail).toMatchObject({ action: 'accept' });
    });

    test('a question that may not be asked is refused, so that the task goes on', async () => {
      const { gateway } = await start('tasks-v1', kind);
      const call = run(gateway, { tool: 'ask_in_task', arguments: { tag: 'n' } });
      expect(textOfOutcome((await call.end).outcome)).toMatch(/did not declare form elicitation/);
    });

    verifies('G1-64', 'a cancel goes up as tasks/cancel', async () => {
      const { gateway, effects } = await start('tasks-v1', kind);
      const call = run(gateway, { tool: 'export_report', arguments: { tag: 'c', ms: 30_000 } });
      await until(() => expect(effects.lines('c').at(-1)?.event).toBe('tick'));
      call.stop('cancelled');
      expect(await call.end).toMatchObject({ outcome: { kind: 'cancelled' }, end: 'cancelled' });
      await until(() => expect(effects.lines('c').at(-1)?.event).toBe('cancelled'));
    });
  },
);

describe.each(['stdio', 'http'] as const)(
  'an upstream of 2026-07-28 that runs tasks itself, over %s',
  (kind) => {
    test('its task is journalled, observed, and its result is ours', async () => {
      const { gateway } = await start('tasks-2026', kind);
      expect(gateway.manifests()[0]).toMatchObject({
        ownTasks: '2026-07-28',
        generation: '2026-07-28',
      });
      const call = run(gateway, { tool: 'slow_compute', arguments: { seconds: 0.3, label: 'r' } });
      const { outcome, end } = await call.end;
      expect(end).toBe('answered');
      expect(outcome).toEqual({
        kind: 'result',
        result: { content: [{ type: 'text', text: 'r: computed for 0.3 s' }] },
      });
      expect(call.journal).toMatchObject([{ generation: '2026-07-28' }]);
    });

    test('a JSON-RPC error of the task is the error of the call', async () => {
      const { gateway } = await start('tasks-2026', kind);
      const { outcome, end } = await run(gateway, { tool: 'protocol_error_job' }).end;
      expect(end).toBe('error');
      expect(outcome).toEqual({
        kind: 'error',
        error: { code: -31_001, message: 'the job broke off', data: { stage: 'halfway' } },
      });
    });

    test('an error result of the task is a tool error', async () => {
      const { gateway } = await start('tasks-2026', kind);
      expect(await run(gateway, { tool: 'failing_job' }).end).toMatchObject({ end: 'tool_error' });
    });

    verifies(
      ['G2-49', 'G2-52', 'G2-58'],
      'its questions are asked once each and answered one by one',
      async () => {
        const { gateway } = await start('tasks-2026', kind);
        const call = run(gateway, { tool: 'multi_input', asks: EVERY_ASK });
        await until(() => expect(call.questions).toHaveLength(2));
        expect(call.questions.map(({ params }) => params['message'])).toEqual([
          'First question',
          'Second question',
        ]);
        call.questions[1]?.answer({ kind: 'result', result: { action: 'decline' } });
        call.questions[0]?.answer(accept({ name: 'x', confirm: true }));
        expect(textOfOutcome((await call.end).outcome)).toBe('First: accept, second: decline');
        expect(call.questions).toHaveLength(2);
        expect(call.journal.at(-1)?.relayedKeys).toHaveLength(2);
      },
    );

    verifies('G2-83', 'a cancel goes up as tasks/cancel', async () => {
      const { gateway, effects } = await start('tasks-2026', kind);
      const call = run(gateway, { tool: 'slow_compute', arguments: { seconds: 30, label: 'c' } });
      await until(() => expect(effects.lines('c').at(-1)?.event).toBe('tick'));
      call.stop('cancelled');
      expect(await call.end).toMatchObject({ outcome: { kind: 'cancelled' }, end: 'cancelled' });
      await until(() => expect(effects.lines('c').at(-1)?.event).toBe('cancelled'));
    });
  },
);

verifies('G2-88', 'a task that finishes in spite of a cancel is told as it ended', async () => {
  const file = new URL('./servers/late-2026.ts', import.meta.url).pathname;
  const gateway = await startGateway({
    upstreams: [{ endpoint: { kind: 'stdio', ...typescriptCommand(file) } }],
  });
  const call = run(gateway, { tool: 'late' });
  await until(() => expect(call.journal).toHaveLength(1));
  call.stop('cancelled');
  const { outcome, end } = await call.end;
  expect(end).toBe('answered');
  expect(textOfOutcome(outcome)).toBe('done all the same');
});

describe('a task that an earlier run has left behind', () => {
  test('is observed on, and nothing is called again', async () => {
    const { gateway, effects, endpoint } = await start('tasks-2026', 'http');
    const first = run(gateway, { tool: 'slow_compute', arguments: { seconds: 1, label: 'o' } });
    await until(() => expect(first.journal).toHaveLength(1));
    first.stop('shutdown');
    await first.end;
    await gateway.stop(500);
    const [upstreamTask] = first.journal;
    const next = await startGateway({ upstreams: [{ endpoint }] });
    const second = run(next, {
      tool: 'slow_compute',
      attempt: 2,
      ...(upstreamTask ? { upstreamTask } : {}),
    });
    expect(textOfOutcome((await second.end).outcome)).toBe('o: computed for 1 s');
    expect(second.dispatchedCount()).toBe(0);
    expect(effects.lines('o').filter(({ event }) => event === 'start')).toHaveLength(1);
    expect(effects.lines('o').some(({ event }) => event === 'cancelled')).toBe(false);
  });

  test.each(['tasks-v1', 'tasks-2026'] as const)(
    'and that %s does not know is an unknown outcome',
    async (name) => {
      const { gateway } = await start(name, 'stdio');
      const generation = name === 'tasks-v1' ? '2025-11-25' : '2026-07-28';
      const tool = name === 'tasks-v1' ? 'rebuild_index' : 'slow_compute';
      const call = run(gateway, {
        tool,
        attempt: 2,
        upstreamTask: { generation, taskId: 'nobody-knows' },
      });
      expect(await call.end).toMatchObject({
        end: 'lost',
        reason: 'upstream_task_lost',
        outcome: { error: { data: { reason: 'outcome_unknown' } } },
      });
    },
  );

  test('is waited for while its upstream is away', async () => {
    const { gateway, effects } = await start('tasks-2026', 'stdio');
    const call = run(gateway, { tool: 'slow_compute', arguments: { seconds: 30, label: 'w' } });
    await until(() => expect(effects.lines('w').at(-1)?.event).toBe('tick'));
    process.kill(effects.lines('w')[0]?.pid ?? 0, 'SIGKILL');
    // Its tasks lived in its memory: the new process says that it knows none, and only then it is over.
    expect(await call.end).toMatchObject({ end: 'lost', reason: 'upstream_task_lost' });
  });
});
