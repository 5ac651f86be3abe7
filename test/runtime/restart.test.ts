import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Task } from '../../src/protocol/model.ts';
import type { Job, RunEnd } from '../../src/runtime/job.ts';
import type { Call } from '../../src/runtime/receiver.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  answered,
  clockAfter,
  createReceivingSide,
  payTool,
  readTool,
  settleDown,
  stopped,
  toldToStop,
  until,
  type ReceivingSide,
} from './receiving-side.ts';

const never = (): Promise<RunEnd> => new Promise(() => undefined);

interface Life {
  /** What the handler did before the death; it never comes back. */
  readonly before: (job: Job) => Promise<unknown>;
  readonly call?: Partial<Call>;
  /** What the next process's handler does. */
  readonly after?: (job: Job) => Promise<RunEnd>;
  /** Between start and death. */
  readonly meanwhile?: (side: ReceivingSide, task: Task) => Promise<void>;
}

interface Afterlife {
  readonly side: ReceivingSide;
  readonly task: Task;
  readonly report: Awaited<ReturnType<ReceivingSide['runtime']['recover']>>;
  /** The attempts that the next process has run. */
  readonly runs: readonly Job[];
}

/** One task, a sudden death while it runs, and the next process on the same file. */
async function afterDeath({ before, call, after, meanwhile }: Life): Promise<Afterlife> {
  const clock = createManualClock();
  let reached = false;
  const dead = await createReceivingSide({
    clock,
    run: async (job) => {
      await before(job);
      reached = true;
      return never();
    },
  });
  await dead.open();
  const task = await dead.call(call);
  await until(() => reached);
  await meanwhile?.(dead, task);
  await dead.die();

  const runs: Job[] = [];
  const side = await createReceivingSide({
    path: dead.path,
    clock: clockAfter(clock),
    run: async (job) => {
      runs.push(job);
      return (after ?? (async () => answered('again')))(job);
    },
  });
  const report = await side.runtime.recover();
  side.engine.start(side.runtime.runAttempt);
  return { side, task, report, runs };
}

const dispatched = (job: Job): Promise<boolean> => job.dispatched();
const upstreamTask = { generation: '2026-07-28', taskId: 'up-1', pollIntervalMs: 50 } as const;
const observed = async (job: Job): Promise<unknown> => {
  await job.dispatched();
  return job.journalUpstream(upstreamTask);
};

describe('a death in mid-call', () => {
  it('lets a read be done again, as its second attempt', async () => {
    const { side, task, runs, report } = await afterDeath({ before: dispatched });
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(runs.map(({ attempt }) => attempt)).toEqual([2]);
    expect(report).toMatchObject({ again: 1, 'settle-unknown': 0 });
  });

  it('leaves the fate of what was sent unknown, says not to repeat it, and sends nothing', async () => {
    const { side, task, runs } = await afterDeath({ before: dispatched, call: { tool: payTool } });
    const outcome = await side.outcome(task);
    expect(outcome).toMatchObject({
      kind: 'error',
      error: { code: -32603, data: { reason: 'outcome_unknown', operationId: task.operationId } },
    });
    expect(outcome.kind === 'error' && outcome.error.message).toContain(
      'do not repeat it before that was checked',
    );
    expect(await side.operationState(task)).toBe('unknown');
    await settleDown();
    expect(runs).toEqual([]);
  });

  it('does what was never sent, again: nothing has happened yet', async () => {
    const { side, task, runs } = await afterDeath({
      before: async () => undefined,
      call: { tool: payTool },
      after: async (job) => {
        expect(await job.dispatched()).toBe(true);
        return answered('paid once');
      },
    });
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(runs).toHaveLength(1);
    expect(await side.operationState(task)).toBe('acknowledged');
  });

  it("goes on observing the upstream's own task, and calls nothing again", async () => {
    const { side, task, runs } = await afterDeath({ before: observed, call: { tool: payTool } });
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(runs.map((job) => job.upstreamTask)).toEqual([upstreamTask]);
    expect(await side.operationState(task)).toBe('acknowledged');
  });

  it('carries a cancel that was asked for before it up to the upstream', async () => {
    const { side, task, runs } = await afterDeath({
      before: observed,
      call: { tool: payTool },
      meanwhile: async (dead, { id }) => void (await dead.store.tasks.requestCancel('system', id)),
      after: async (job) => {
        await toldToStop(job.signal);
        return stopped;
      },
    });
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect(runs.map((job) => [job.signal.reason, job.upstreamTask?.taskId])).toEqual([
      ['cancelled', 'up-1'],
    ]);
  });

  it('ends what was to be cancelled and can be observed nowhere', async () => {
    const { side, task, runs } = await afterDeath({
      before: dispatched,
      call: { tool: payTool },
      meanwhile: async (dead, { id }) => void (await dead.store.tasks.requestCancel('system', id)),
    });
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect([await side.operationState(task), runs]).toEqual(['unknown', []]);
  });

  it('withdraws the questions of the dead run; the next one asks under new keys', async () => {
    const question = { method: 'elicitation/create', params: { message: 'sure?' } } as const;
    const keys: string[] = [];
    const clock = createManualClock();
    const ask = async (job: Job): Promise<RunEnd> => {
      const [reply] = await job.ask([question]);
      return answered(reply?.kind ?? 'nothing');
    };
    const dead = await createReceivingSide({ clock, run: ask });
    await dead.open();
    const task = await dead.call();
    await until(async () => ((await dead.view(task))?.inputs.length ?? 0) > 0);
    keys.push(...((await dead.view(task))?.inputs.map(({ key }) => key) ?? []));
    await dead.die();

    const side = await createReceivingSide({ path: dead.path, clock: clockAfter(clock), run: ask });
    await side.runtime.recover();
    expect(await side.view(task)).toMatchObject({ task: { phase: 'working' }, inputs: [] });
    side.engine.start(side.runtime.runAttempt);
    await until(async () => ((await side.view(task))?.inputs.length ?? 0) > 0);
    const [next] = (await side.view(task))?.inputs ?? [];
    expect(keys).not.toContain(next?.key);
    const accept = { kind: 'result', result: { action: 'accept', content: {} } } as const;
    await side.runtime.receiver.answer(ALICE, task.id, { [next?.key ?? '']: accept });
    expect(await side.outcome(task)).toMatchObject({ result: { content: [{ text: 'answer' }] } });
  });
});

describe('a death that took the only one who waited', () => {
  it('ends a plain read instead of doing it for nobody', async () => {
    const { side, task, runs } = await afterDeath({
      before: dispatched,
      call: { origin: 'plain' },
    });
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    await settleDown();
    expect(runs).toEqual([]);
  });

  it('leaves the fate of a plain call that was sent unknown', async () => {
    const { side, task } = await afterDeath({
      before: dispatched,
      call: { origin: 'plain', tool: payTool },
    });
    expect(await side.outcome(task)).toMatchObject({
      error: { data: { reason: 'outcome_unknown' } },
    });
    expect(await side.operationState(task)).toBe('unknown');
  });

  it('never sends a plain call that was still in the queue', async () => {
    const clock = createManualClock();
    const dead = await createReceivingSide({ clock, run: never });
    const task = await dead.call({ origin: 'plain', tool: payTool });
    await dead.die();
    const runs: Job[] = [];
    const side = await createReceivingSide({
      path: dead.path,
      clock: clockAfter(clock),
      run: async (job) => (runs.push(job), answered('')),
    });
    await side.open();
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect([await side.operationState(task), runs]).toEqual(['abandoned', []]);
  });
});

describe('a handle that was on its way when the process died', () => {
  verifies(
    ['T26', 'G1-78'],
    'may have arrived: its task goes on and its owner finds it',
    async () => {
      const clock = createManualClock();
      const dead = await createReceivingSide({ clock, run: never });
      const task = await dead.call({ origin: '2025-11-25' });
      await dead.die();
      const side = await createReceivingSide({
        path: dead.path,
        clock: clockAfter(clock),
        run: async () => answered('x'),
      });
      await side.open();
      expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
      const listed = await side.runtime.receiver.list(ALICE, undefined);
      expect(listed).toMatchObject({ page: { tasks: [{ id: task.id }] } });
    },
  );
});

describe('death after death', () => {
  it('stops a call that kills its process after three attempts', async () => {
    const clock = createManualClock();
    let path: string | undefined;
    let task: Task | undefined;
    for (let life = 1; life <= 3; life += 1) {
      let reached = false;
      const mortal = await createReceivingSide({
        ...(path === undefined ? {} : { path }),
        clock: clockAfter(clock),
        run: async (job) => {
          await job.dispatched();
          reached = true;
          return never();
        },
      });
      path = mortal.path;
      await mortal.open();
      task ??= await mortal.call();
      await until(() => reached);
      await mortal.die();
    }
    const side = await createReceivingSide({
      path: path ?? '',
      clock: clockAfter(clock),
      run: async () => answered(''),
    });
    const report = await side.runtime.recover();
    expect(report['settle-exhausted']).toBe(1);
    const row = task as Task;
    expect(await side.outcome(row)).toMatchObject({
      error: { data: { reason: 'attempts_exhausted', attempts: 3 } },
    });
  });

  it('leaves no task working for ever, whatever it was doing', async () => {
    const clock = createManualClock();
    const started = { count: 0 };
    const dead = await createReceivingSide({
      clock,
      slots: 4,
      run: async (job) => {
        started.count += 1;
        if (job.tool.name === 'pay') await job.dispatched();
        if (started.count % 2 === 0)
          await job.ask([{ method: 'elicitation/create', params: { message: '?' } }]);
        return never();
      },
    });
    await dead.open();
    const tasks: Task[] = [];
    for (const origin of ['plain', '2025-11-25', '2026-07-28'] as const)
      for (const tool of [readTool, payTool])
        tasks.push(await dead.call({ origin, tool }), await dead.call({ origin, tool }));
    await until(() => started.count >= 4);
    await settleDown();
    await dead.die();

    const side = await createReceivingSide({
      path: dead.path,
      clock: clockAfter(clock),
      run: async () => answered(''),
    });
    await side.open();
    for (const task of tasks) await side.outcome(task);
    expect(await side.store.tasks.counts()).toMatchObject({ working: 0, inputRequired: 0 });
  });
});

describe('two processes on one store', () => {
  it('take over what the other lets go of, by its lease, and fence the other out', async () => {
    const clock = createManualClock();
    const firstRuns: Job[] = [];
    const first = await createReceivingSide({
      clock,
      limits: { heartbeatMs: 1e9 },
      run: async (job) => {
        firstRuns.push(job);
        await toldToStop(job.signal);
        return answered('from the one that stalled');
      },
    });
    await first.open();
    const task = await first.call();
    await until(() => firstRuns.length === 1);

    const second = await createReceivingSide({
      path: first.path,
      clock,
      run: async () => answered('from the second'),
    });
    expect((await second.runtime.sweep()).recovered).toMatchObject({ again: 0 });
    clock.advance(15_001);
    expect((await second.runtime.sweep()).recovered).toMatchObject({ again: 1 });
    second.engine.start(second.runtime.runAttempt);
    expect(await second.outcome(task)).toMatchObject({
      result: { content: [{ text: 'from the second' }] },
    });
    expect(await firstRuns[0]?.dispatched()).toBe(false);
  });

  it('a run whose lease was taken is told, and settles nothing', async () => {
    const clock = createManualClock();
    const reasons: unknown[] = [];
    const first = await createReceivingSide({
      clock,
      run: async (job) => {
        await job.dispatched();
        await toldToStop(job.signal);
        reasons.push(job.signal.reason);
        return answered('too late');
      },
    });
    await first.open();
    const task = await first.call({ tool: payTool });
    await until(async () => (await first.operationState(task)) === 'dispatched');
    await first.store.attempts.listOrphaned('boot_other', true);
    clock.advance(5_000);
    await until(() => reasons.length === 1);
    await until(() => first.engine.runningCount() === 0);
    expect(reasons).toEqual(['lease_lost']);
    expect((await first.row(task)).phase).toBe('working');
    expect(await first.operationState(task)).toBe('acknowledged');
  });
});
