import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Job, RunEnd } from '../../src/runtime/job.ts';
import type { Store } from '../../src/stores/store.ts';
import {
  answered,
  createReceivingSide,
  payTool,
  settleDown,
  stopped,
  toldToStop,
  until,
} from './receiving-side.ts';

/** A store of which single methods fail while the switch is on. */
function failing(names: readonly string[]) {
  const fault = { on: false };
  const broken = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (!names.includes(String(name)) || typeof method !== 'function') return method;
        return (...args: unknown[]): unknown =>
          fault.on
            ? Promise.reject(new Error('disk I/O error'))
            : Reflect.apply(method, target, args);
      },
    });
  const wrap = (store: Store): Store => ({
    ...store,
    tasks: broken(store.tasks),
    attempts: broken(store.attempts),
    inputs: broken(store.inputs),
    operations: broken(store.operations),
  });
  return { fault, wrap };
}

describe('a store that fails for a while', () => {
  it('does not cost an outcome that was earned', async () => {
    const clock = createManualClock();
    const { fault, wrap } = failing(['settle']);
    fault.on = true;
    const side = await createReceivingSide({ clock, wrap, run: async () => answered('earned') });
    await side.open();
    const task = await side.call();
    for (let tries = 0; tries < 5; tries += 1) {
      await settleDown();
      clock.advance(5_000);
    }
    expect(await side.row(task)).toMatchObject({ phase: 'working' });
    fault.on = false;
    await settleDown();
    clock.advance(5_000);
    expect(await side.outcome(task)).toMatchObject({ result: { content: [{ text: 'earned' }] } });
  });

  it('lets nothing be sent whose mark was not written', async () => {
    const { fault, wrap } = failing(['markDispatched']);
    fault.on = true;
    const marks: boolean[] = [];
    const side = await createReceivingSide({
      wrap,
      run: async (job) => {
        marks.push(await job.dispatched());
        return stopped;
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await side.outcome(task);
    expect(marks).toEqual([false]);
    expect(await side.operationState(task)).toBe('abandoned');
  });

  it('costs a run its lease when it lasts longer than that, and the sweep then judges the task', async () => {
    const clock = createManualClock();
    const { fault, wrap } = failing(['extend']);
    const reasons: unknown[] = [];
    const side = await createReceivingSide({
      clock,
      wrap,
      run: async (job: Job): Promise<RunEnd> => {
        await job.dispatched();
        await toldToStop(job.signal);
        reasons.push(job.signal.reason);
        return { outcome: { kind: 'cancelled' }, end: 'lost', reason: 'lost' };
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(async () => (await side.operationState(task)) === 'dispatched');
    fault.on = true;
    for (let beats = 0; beats < 4; beats += 1) {
      clock.advance(5_000);
      await settleDown();
    }
    expect(reasons).toEqual(['lease_lost']);
    expect(side.runtime.stats()).toMatchObject({ running: 0, strays: 1 });
    expect(await side.row(task)).toMatchObject({ phase: 'working' });
    fault.on = false;
    expect((await side.runtime.sweep()).recovered).toMatchObject({ 'settle-unknown': 1 });
    expect(await side.outcome(task)).toMatchObject({
      error: { data: { reason: 'outcome_unknown' } },
    });
    expect(side.runtime.stats().strays).toBe(0);
  });

  it('withdraws a question that could not be stored, and one that cannot be closed', async () => {
    const clock = createManualClock();
    const { fault, wrap } = failing(['ask', 'withdraw']);
    const replies: string[] = [];
    const question = { method: 'elicitation/create', params: { message: '?' } } as const;
    const side = await createReceivingSide({
      clock,
      wrap,
      run: async (job) => {
        fault.on = true;
        replies.push(...(await job.ask([question])).map(({ kind }) => kind));
        fault.on = false;
        const asked = job.ask([question]);
        await settleDown();
        fault.on = true;
        replies.push(...(await asked).map(({ kind }) => kind));
        return answered('');
      },
    });
    await side.open();
    const task = await side.call();
    await until(async () => ((await side.view(task))?.inputs.length ?? 0) > 0);
    await settleDown();
    clock.advance(3_600_000);
    await side.outcome(task);
    expect(replies).toEqual(['withdrawn', 'expired']);
    expect(side.runtime.stats()).toMatchObject({ running: 0, parked: 0, openQuestions: 0 });
  });

  it('keeps no round of the sweep, and no claim, from the next one', async () => {
    const clock = createManualClock();
    const { fault, wrap } = failing(['claim', 'listDue']);
    const side = await createReceivingSide({ clock, wrap, run: async () => answered('') });
    await side.open();
    side.runtime.startSweeping();
    fault.on = true;
    const task = await side.call({ wantedTtlMs: 0 });
    for (let rounds = 0; rounds < 3; rounds += 1) {
      clock.advance(5_000);
      await settleDown();
    }
    expect(await side.row(task)).toMatchObject({ phase: 'working' });
    fault.on = false;
    clock.advance(5_000);
    await side.outcome(task);
    clock.advance(task.ttlMs);
    await until(async () => (await side.store.tasks.counts()).ended === 0);
    await side.runtime.close(0);
    expect(clock.armed()).toBe(0);
  });

  it('in one part of the sweep leaves the others to their work', async () => {
    const clock = createManualClock();
    const { fault, wrap } = failing(['listDue', 'listOverdue', 'listOrphaned']);
    const side = await createReceivingSide({ clock, wrap, run: async () => answered('') });
    await side.open();
    const task = await side.call();
    await side.outcome(task);
    fault.on = true;
    clock.jump(task.ttlMs);
    expect(await side.runtime.sweep()).toMatchObject({ deleted: 1, overdue: 0, inputsExpired: 0 });
  });
});
