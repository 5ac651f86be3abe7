import { describe, expect, it } from 'vitest';
import { createJournalledSide, result } from './journalled-side.ts';
import { settleDown, until } from './receiving-side.ts';

describe('a journalled handler', () => {
  it('runs its steps in order and ends with its result', async () => {
    const done: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        const a = await job.step('a', () => (done.push('a'), 1));
        const b = await job.step('b', () => (done.push('b'), a + 1));
        return result(String(b));
      },
    });
    const outcome = await side.outcome(await side.begin());
    expect(outcome).toEqual({ kind: 'result', result: result('2') });
    expect(done).toEqual(['a', 'b']);
  });

  it('does not do again what was finished before a death', async () => {
    const done: string[] = [];
    let block = true;
    const side = await createJournalledSide({
      handler: async (job) => {
        const a = await job.step('a', () => (done.push('a'), 'A'));
        const b = await job.step('b', async ({ interrupted }) => {
          done.push(`b ${interrupted}`);
          if (block) await new Promise(() => undefined);
          return 'B';
        });
        return result(a + b);
      },
    });
    const task = await side.begin();
    await until(() => done.length === 2);
    block = false;
    const next = await side.dieAndRise();
    expect(await next.outcome(task)).toEqual({ kind: 'result', result: result('AB') });
    expect(done).toEqual(['a', 'b false', 'b true']);
  });

  it('sleeps in the store, without a worker, and wakes in time', async () => {
    let runs = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        runs += 1;
        const now = await job.step('now', () => side.clock.now());
        await job.sleepUntil('pause', now + 1_000);
        return result('slept');
      },
    });
    const task = await side.begin();
    await until(async () => (await side.store.attempts.listOf(task.id)).length === 2);
    await settleDown();
    expect(side.runtime.stats()).toMatchObject({ running: 0, parked: 0 });
    expect(await side.store.attempts.listOf(task.id)).toMatchObject([
      { state: 'ended', endReason: 'parked' },
      { state: 'parked' },
    ]);
    side.clock.advance(999);
    await settleDown();
    expect(runs).toBe(1);
    side.clock.advance(1);
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(runs).toBe(2);
  });
});
