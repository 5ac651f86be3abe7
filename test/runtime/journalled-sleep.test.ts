import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { LongcallError } from '../../src/kernel/errors.ts';
import {
  createJournalledSide,
  result,
  type Handler,
  type JournalledSide,
} from './journalled-side.ts';
import { settleDown, until } from './receiving-side.ts';
import type { Task } from '../../src/protocol/model.ts';
import type { Store } from '../../src/stores/store.ts';

const isParked = (side: JournalledSide, task: Task) => async (): Promise<boolean> =>
  (await side.store.attempts.listOf(task.id)).at(-1)?.state === 'parked';

/** Wakes what sleeps for that long. */
async function wake(side: JournalledSide, task: Task, ms: number): Promise<void> {
  await until(isParked(side, task));
  await settleDown();
  side.clock.advance(ms);
}

describe('a handler that sleeps', () => {
  it('is not held in memory meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held: WeakRef<object>[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        const large = { rows: Array.from({ length: 1_000 }, () => 7) };
        held.push(new WeakRef(large));
        await job.sleepUntil('pause', (await job.step('now', () => side.clock.now())) + 60_000);
        return result(String(large.rows.length));
      },
    });
    const task = await side.begin();
    await until(isParked(side, task));
    await until(() => {
      collect();
      return held[0]?.deref() === undefined;
    });
    await wake(side, task, 60_000);
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('1000') });
  });

  it('as often as it likes has failed at nothing: only deaths count against its attempts', async () => {
    let runs = 0;
    const handler: Handler = async (job) => {
      runs += 1;
      for (let nap = 0; nap < 5; nap += 1) {
        const now = await job.step(`now ${nap}`, () => side.clock.now());
        await job.sleepUntil(`nap ${nap}`, now + 1_000);
      }
      await job.step('work', () => (runs === 6 ? new Promise<null>(() => undefined) : null));
      return result('rested');
    };
    let side = await createJournalledSide({ handler });
    const task = await side.begin();
    for (let nap = 0; nap < 5; nap += 1) {
      await wake(side, task, 1_000);
      await until(() => runs === nap + 2);
    }
    await settleDown();
    side = await side.dieAndRise();
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('rested') });
    expect(await side.store.attempts.listOf(task.id)).toHaveLength(7);
  });

  it('until a time that has passed goes on without a stop', async () => {
    const side = await createJournalledSide({
      handler: async (job) => {
        await job.sleepUntil('pause', 0);
        return result('awake');
      },
    });
    const task = await side.begin();
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('awake') });
    expect(await side.store.attempts.listOf(task.id)).toHaveLength(1);
  });

  it.each<readonly [string, number]>([
    ['no time at all', Number.NaN],
    ['a time after its record is gone', Date.UTC(2030, 0, 1)],
  ])('until %s is refused', async (_what, at) => {
    const side = await createJournalledSide({ handler: (job) => job.sleepUntil('pause', at) });
    expect(await side.outcome(await side.begin())).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('the step "pause"') as string },
    });
  });

  it('while something else of it works does both in one attempt', async () => {
    const side = await createJournalledSide({
      handler: async (job) => {
        const now = await job.step('now', () => side.clock.now());
        const done = await Promise.all([
          job.sleepUntil('pause', now + 1_000).then(() => 'slept'),
          job.step('work', async () => {
            await new Promise<void>((resolve) => void side.clock.after(2_000, resolve));
            return 'worked';
          }),
        ]);
        return result(done.join());
      },
    });
    const task = await side.begin();
    await settleDown();
    side.clock.advance(1_000);
    await settleDown();
    side.clock.advance(1_000);
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('slept,worked') });
    expect(await side.store.attempts.listOf(task.id)).toHaveLength(1);
  });
});

describe('a journal whose store fails', () => {
  type Broken = 'append' | 'dispatchEffect' | 'recordReceipt';

  /** Fails once in the middle of a COMMIT: nobody is told whether it was written. */
  const failing =
    (method: Broken, written: boolean, count: { left: number }) =>
    (store: Store): Store => {
      const broken = async (...args: unknown[]): Promise<unknown> => {
        const real = store.journal[method] as (...all: unknown[]) => Promise<unknown>;
        if (count.left <= 0) return real(...args);
        count.left -= 1;
        if (written) await real(...args);
        throw new LongcallError('LONGCALL_STORE_FAILED', 'the disk has a hiccup');
      };
      return { ...store, journal: { ...store.journal, [method]: broken } };
    };

  it.each<readonly [Broken, boolean]>([
    ['append', true],
    ['append', false],
    ['dispatchEffect', true],
    ['dispatchEffect', false],
    ['recordReceipt', true],
    ['recordReceipt', false],
  ])('at %s (written: %s) is asked again, and nothing is done twice', async (method, written) => {
    const count = { left: 2 };
    const did: string[] = [];
    const side = await createJournalledSide({
      wrap: failing(method, written, count),
      handler: async (job) => {
        await job.step('a', () => void did.push('a'));
        await job.effect('b', () => void did.push('b'));
        await job.step('c', () => void did.push('c'));
        return result('done');
      },
    });
    const task = await side.begin();
    await until(async () => {
      side.clock.advance(1_000);
      await settleDown();
      return (await side.row(task)).phase === 'ended';
    });
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('done') });
    expect(did).toEqual(['a', 'b', 'c']);
    expect(count.left).toBe(0);
  });
});
