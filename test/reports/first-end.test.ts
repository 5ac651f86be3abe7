import { describe, expect, test } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import {
  ALICE,
  answered,
  createReceivingSide,
  payTool,
  settleDown,
  turn,
  until,
  type ReceivingSide,
} from '../runtime/receiving-side.ts';

const HOWS = ['at-once', 'cooperative'] as const;

/** Every state that anybody was told of, in order. */
function told(side: ReceivingSide): readonly string[] {
  const states: string[] = [];
  side.runtime.feed.watchAll((event) => {
    if (event.kind === 'changed')
      states.push(`${event.task.phase} ${event.task.ending ?? ''}`.trim());
  });
  return states;
}

describe('the first end counts', () => {
  test.each(HOWS)(
    'cancelled (%s): a late answer and late progress revive nothing [C2]',
    async (how) => {
      const clock = createManualClock();
      const late = createDeferred<void>();
      const side = await createReceivingSide({
        clock,
        run: async (job) => {
          await job.dispatched();
          await late.promise;
          job.progress({ progress: 9 });
          job.status('still at it');
          return answered('done after all');
        },
      });
      await side.open();
      const states = told(side);
      const task = await side.call({ tool: payTool });
      await until(async () => (await side.operationState(task)) === 'dispatched');
      await side.runtime.receiver.cancel(ALICE, task.id, how);
      clock.advance(5_000); // the end of the grace
      expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
      const ended = await side.view(task);

      late.resolve();
      await until(async () => (await side.operationState(task)) === 'acknowledged'); // nothing is lost
      await settleDown();
      expect(await side.view(task)).toEqual(ended);
      expect(states.at(-1)).toBe('ended cancelled');
      expect(states.filter((state) => state.startsWith('ended'))).toHaveLength(1);
    },
  );

  test.each(HOWS)('completed: a late cancel (%s) rewrites nothing [C2]', async (how) => {
    const side = await createReceivingSide({ run: async () => answered('done') });
    await side.open();
    const states = told(side);
    const task = await side.call();
    await side.outcome(task);
    const ended = await side.view(task);
    expect(await side.runtime.receiver.cancel(ALICE, task.id, how)).toMatchObject({
      kind: 'already_ended',
    });
    await side.runtime.sweep();
    expect(await side.view(task)).toEqual(ended);
    expect(states.at(-1)).toBe('ended result');
  });

  test.each(HOWS)(
    'both in one tick (%s): one of them, the same for everybody [C2]',
    async (how) => {
      const gates = new Map<string, () => void>();
      const side = await createReceivingSide({
        run: async ({ task }) => {
          await new Promise<void>((resolve) => gates.set(task.id, resolve));
          return answered('done');
        },
      });
      await side.open();
      const seen = new Set<string | undefined>();
      for (let race = 0; race < 25; race += 1) {
        const task = await side.call();
        await until(() => gates.has(task.id));
        const states = told(side);
        const finish = async (): Promise<void> => {
          for (let turns = race % 5; turns > 0; turns -= 1) await turn();
          gates.get(task.id)?.();
        };
        const cancelled = side.runtime.receiver.cancel(ALICE, task.id, how);
        await Promise.all([cancelled, finish()]);
        await side.outcome(task);
        const { ending } = await side.row(task);
        seen.add(ending);
        expect((await side.view(task))?.task.ending).toBe(ending);
        await until(() => states.includes(`ended ${ending}`));
        expect(states.filter((state) => state.startsWith('ended'))).toHaveLength(1);
      }
      expect(['result', 'cancelled']).toEqual(expect.arrayContaining([...seen]));
    },
  );
});
