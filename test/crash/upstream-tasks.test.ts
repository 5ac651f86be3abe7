import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { textOf } from '../wire/steps.ts';
import { verifies } from '../requirements/verifies.ts';
import { connectFront } from './front.ts';
import type { Front } from './front.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { createEffects, createSite } from './site.ts';
import type { Site } from './site.ts';
import { until, untilTrue } from './until.ts';

/** Upstreams that make tasks of their own, and a slow tool of each. */
const UPSTREAMS = [
  {
    name: 'tasks-v1',
    env: { TASKS_OF_ANY_SESSION: '1' },
    tool: 'export_report',
    args: (ms: number) => ({ ms }),
  },
  {
    name: 'tasks-2026',
    env: {},
    tool: 'slow_compute',
    args: (ms: number) => ({ seconds: ms / 1_000 }),
  },
] as const;
const HOLDERS = ['2025-task', '2026-tasks'] as const;

const effects = createEffects();
afterAll(() => effects.remove());

describe.each(UPSTREAMS)('a task that $name runs itself', ({ name, env, tool, args }) => {
  let upstream: MortalUpstream;
  let site: Site;
  let front: Front;
  let calls = 0;

  beforeEach(async () => {
    upstream = await startMortalUpstream(name, effects.file, env);
    site = createSite({ effects, upstream: { url: upstream.url } });
  });
  afterEach(async () => {
    await site.remove();
    await upstream.kill();
  });

  /** Calls the tool and resolves with its handle when the upstream's task is on record. */
  async function startObserved(kind: (typeof HOLDERS)[number], front_: string, ms: number) {
    calls += 1;
    const tag = `${name}-${kind}-${calls}`;
    const call = front.call(kind, front_, { tag, label: tag, ...args(ms) });
    const answer = await call.answer;
    if (answer.kind !== 'handle') throw new Error(`no handle: ${JSON.stringify(answer)}`);
    const { taskId } = answer;
    await untilTrue(async () => {
      const { attempts } = await site.admin().task(taskId);
      return attempts.some(({ observesUpstreamTask }) => observesUpstreamTask);
    }, 'the journal to name the task of the upstream');
    return { tag, taskId };
  }

  const start = async (crash = false): Promise<void> => {
    const gateway = await site.start(crash ? { point: 'after-cancel-request', nth: 1 } : undefined);
    front = await connectFront(gateway.url);
  };
  const ended = (taskId: string) =>
    until(async () => {
      const record = await site.admin().task(taskId);
      return record.protocol.phase === 'ended' ? record : undefined;
    }, `the end of ${taskId}`);
  const eventsOf = (tag: string) => effects.lines(tag).map(({ event }) => event);
  const sends = (tag: string) => eventsOf(tag).filter((event) => event === 'start').length;

  for (const kind of HOLDERS) {
    verifies(
      ['G1-35', 'G2-41', 'G2-159'],
      `goes on being observed after the death of the gateway, and is called once, for ${kind}`,
      async () => {
        await start();
        const { tag, taskId } = await startObserved(kind, `do_${tool}`, 2_000);
        await site.gateway().kill();
        await start();
        const record = await ended(taskId);
        expect(record.operation?.state).toBe('acknowledged');
        const view = await front.view(kind, taskId);
        expect(view.status).toBe('completed');
        expect(textOf(view.result)).toContain(tag);
        expect(sends(tag)).toBe(1);
        expect(eventsOf(tag)).toContain('finish');
      },
      60_000,
    );

    verifies(
      ['G1-67', 'G1-69', 'G2-86', 'T9'],
      `is cancelled by the next gateway, where the last one died of the cancel, for ${kind}`,
      async () => {
        await start(true);
        const { tag, taskId } = await startObserved(kind, `do_${tool}`, 20_000);
        expect(await front.cancel(kind, taskId), 'an answer to the cancel').toBe(false);
        await site.gateway().exited;
        await start();
        await untilTrue(
          () => eventsOf(tag).includes('cancelled'),
          'the upstream to hear of the cancel',
        );
        const record = await ended(taskId);
        expect(record.protocol.ending).toBe('cancelled');
        expect(record.operation?.state).toBe('unknown');
        expect((await front.view(kind, taskId)).status).toBe('cancelled');
        expect(sends(tag)).toBe(1);
      },
      60_000,
    );
  }

  for (const dies of ['upstream', 'both'] as const)
    verifies(
      ['G1-37', 'G2-43', 'T9'],
      `is unknown once the upstream has forgotten it (${dies} died), and a read is done again`,
      async () => {
        await start();
        const paid = await startObserved('2026-tasks', `do_${tool}`, 3_000);
        const read = await startObserved('2026-tasks', `read_${tool}`, 3_000);
        await upstream.kill();
        if (dies === 'both') await site.gateway().kill();
        await upstream.revive();
        if (dies === 'both') await start();
        const [payment, reading] = await Promise.all([ended(paid.taskId), ended(read.taskId)]);
        expect(payment.operation?.state).toBe('unknown');
        expect((await front.view('2026-tasks', paid.taskId)).error).toMatchObject({
          data: { reason: 'outcome_unknown', operationId: payment.operation?.id },
        });
        expect(reading.protocol.ending).toBe('result');
        expect([sends(paid.tag), sends(read.tag)]).toEqual([1, 2]);
      },
      90_000,
    );
});

verifies(
  ['G1-37', 'G2-43', 'T12'],
  'a task that its upstream shows to one session only is unknown to the next gateway, and is not called again',
  async () => {
    const upstream = await startMortalUpstream('tasks-v1', effects.file);
    const site = createSite({ effects, upstream: { url: upstream.url } });
    try {
      const front = await connectFront((await site.start()).url);
      const call = front.call('2026-tasks', 'do_export_report', { tag: 'bound', ms: 1_000 });
      const answer = await call.answer;
      const taskId = answer.kind === 'handle' ? answer.taskId : '';
      await untilTrue(
        async () =>
          (await site.admin().task(taskId)).attempts.some(
            (attempt) => attempt.observesUpstreamTask,
          ),
        'the journal to name the task of the upstream',
      );
      await site.gateway().kill();
      const next = await connectFront((await site.start()).url);
      const view = await until(async () => {
        const seen = await next.view('2026-tasks', taskId);
        return seen.status === 'working' ? undefined : seen;
      }, `the end of ${taskId}`);
      expect(view.error).toMatchObject({ data: { reason: 'outcome_unknown' } });
      expect(effects.lines('bound').filter(({ event }) => event === 'start')).toHaveLength(1);
    } finally {
      await site.remove();
      await upstream.kill();
    }
  },
  60_000,
);
