import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import {
  createJournalledSide,
  result,
  type Handler,
  type JournalledSide,
} from './journalled-side.ts';
import { ALICE, createReceivingSide, settleDown, toldToStop, until } from './receiving-side.ts';
import type { Task } from '../../src/protocol/model.ts';

const cancel = (side: JournalledSide, task: Task, how: 'at-once' | 'cooperative' = 'cooperative') =>
  side.runtime.receiver.cancel(ALICE, task.id, how);

const never = (): Promise<never> => new Promise(() => undefined);

describe('cancelling a journalled call', () => {
  it('reaches the work of a step, and its task ends as soon as the handler does', async () => {
    const begun = createDeferred<void>();
    const side = await createJournalledSide({
      handler: (job) =>
        job.step('export', async ({ signal }) => {
          begun.resolve();
          await toldToStop(signal);
          throw signal.reason as Error;
        }),
    });
    const task = await side.begin();
    await begun.promise;
    await cancel(side, task);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
  });

  it('reaches a handler in another process within two seconds [C1]', async () => {
    const clock = createManualClock();
    let heardAt: number | undefined;
    const here = await createJournalledSide({
      clock,
      handler: async (job) => {
        await job.effect('mark', () => 'sent');
        await toldToStop(job.signal);
        heardAt = clock.monotonic();
        throw job.signal.reason as Error;
      },
    });
    const task = await here.begin();
    await until(async () => (await here.store.journal.read(task.id)).length === 2);
    await settleDown();
    const elsewhere = await createReceivingSide({ clock, run: never, wrap: () => here.store });
    const askedAt = clock.monotonic();
    await elsewhere.runtime.receiver.cancel(ALICE, task.id, 'cooperative');
    expect((await here.row(task)).phase).toBe('working');
    await until(async () => {
      clock.advance(100);
      await settleDown();
      return heardAt !== undefined;
    });
    expect((heardAt ?? Infinity) - askedAt).toBeLessThanOrEqual(2_000);
    expect(await here.outcome(task)).toEqual({ kind: 'cancelled' });
  });

  it('ends a sleeping call at once, whatever it has sent, and says what had happened', async () => {
    let runs = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        runs += 1;
        await job.effect('order', () => 'order-7');
        await job.sleepUntil('wait', (await job.step('now', () => side.clock.now())) + 60_000);
        return result('delivered');
      },
    });
    const task = await side.begin();
    await until(async () => (await side.store.attempts.listOf(task.id)).at(-1)?.state === 'parked');
    await cancel(side, task);
    const row = await side.row(task);
    expect(row).toMatchObject({ phase: 'ended', ending: 'cancelled' });
    expect(row.message).toMatch(/^cancelled\. Done by then: order \(op_[\w-]{27}\)\.$/);
    await settleDown();
    expect(runs).toBe(1);
  });

  it('says of an effect that was under way that nobody knows, and its late receipt still reaches the ledger', async () => {
    const answer = createDeferred<string>();
    const operationId = createDeferred<string>();
    const side = await createJournalledSide({
      handler: (job) =>
        job.effect('pay', (at) => (operationId.resolve(at.operationId), answer.promise)),
    });
    const task = await side.begin();
    const id = await operationId.promise;
    await cancel(side, task);
    await settleDown();
    side.clock.advance(5_000);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    const { message } = await side.row(task);
    expect(message).toBe(`cancelled. Not known whether it happened: pay (${id}).`);
    expect((await side.store.operations.get('system', id))?.state).toBe('unknown');

    answer.resolve('paid after all');
    await until(async () => {
      const { state } = (await side.store.operations.get('system', id)) ?? {};
      return state === 'acknowledged';
    });
    expect(await side.store.operations.get('system', id)).toMatchObject({
      receipt: 'paid after all',
    });
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect((await side.row(task)).message).toBe(message);
  });

  it('at once (2025-11-25) fences the attempt out of journal and dispatch, and takes its receipt', async () => {
    const answer = createDeferred<string>();
    const sent: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        const paid = await job.effect('pay', () => (sent.push('pay'), answer.promise));
        await job.step('note', () => void sent.push('note'));
        await job.effect('mail', () => void sent.push('mail'));
        return result(paid);
      },
    });
    const task = await side.begin();
    await until(() => sent.length === 1);
    await cancel(side, task, 'at-once');
    expect((await side.row(task)).ending).toBe('cancelled');
    const facts = await side.store.journal.read(task.id);
    answer.resolve('receipt-9');
    await settleDown();
    expect(sent).toEqual(['pay']);
    expect(await side.store.journal.read(task.id)).toEqual(facts);
    const [begun] = facts;
    const id = begun?.type === 'begun' ? (begun.operationId ?? '') : '';
    expect(await side.store.operations.get('system', id)).toMatchObject({
      state: 'acknowledged',
      receipt: 'receipt-9',
    });
  });

  it('lets a handler clean up within its grace, and neither send nor ask anything more', async () => {
    const did: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        try {
          await job.step('build', ({ signal }) =>
            toldToStop(signal).then(() => Promise.reject(signal.reason as Error)),
          );
        } finally {
          await job.step('remove', () => void did.push('removed'));
          await job
            .effect('mail', () => void did.push('mailed'))
            .catch((thrown: unknown) => {
              did.push(String(thrown));
            });
        }
      },
    });
    const task = await side.begin();
    await until(async () => (await side.store.journal.read(task.id)).length === 1);
    await settleDown();
    await cancel(side, task);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect(did).toEqual(['removed', 'AbortError: the call was cancelled']);
  });

  it('keeps the result of a handler that came to it within the grace', async () => {
    const handler: Handler = async (job) => {
      await toldToStop(job.signal);
      return result('half of it');
    };
    const side = await createJournalledSide({ handler });
    const task = await side.begin();
    await settleDown();
    await cancel(side, task);
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('half of it') });
  });

  it('that comes between the sleep and its place in the store is not lost', async () => {
    const gate = createDeferred<void>();
    const reached = createDeferred<void>();
    const side = await createJournalledSide({
      wrap: (store) => ({
        ...store,
        attempts: {
          ...store.attempts,
          park: async (...args) => {
            reached.resolve();
            await gate.promise;
            return store.attempts.park(...args);
          },
        },
      }),
      handler: async (job) => {
        await job.sleepUntil('wait', (await job.step('now', () => side.clock.now())) + 60_000);
        return result('slept');
      },
    });
    const task = await side.begin();
    await reached.promise;
    await cancel(side, task);
    gate.resolve();
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
  });
});

describe('a process that shuts down', () => {
  it('keeps what came to its end in time, and leaves the rest to the next process', async () => {
    const quick = createDeferred<string>();
    const ran: string[] = [];
    let leaving = true;
    const handler: Handler = async (job) => {
      const [a] = await Promise.all([
        job.step('quick', () => (ran.push('quick'), quick.promise)),
        job.step('slow', async ({ signal }) => {
          ran.push('slow');
          if (!leaving) return 'slow';
          await toldToStop(signal);
          throw signal.reason as Error;
        }),
      ]);
      return result(a);
    };
    const side = await createJournalledSide({ handler });
    const task = await side.begin();
    await until(() => ran.length === 2);
    const closed = side.runtime.close(0);
    await settleDown();
    side.clock.advance(1);
    await settleDown();
    quick.resolve('kept');
    await settleDown();
    await closed;
    expect((await side.row(task)).phase).toBe('working');
    leaving = false;
    const next = await side.dieAndRise();
    expect(await next.outcome(task)).toEqual({ kind: 'result', result: result('kept') });
    expect(ran).toEqual(['quick', 'slow', 'slow']);
  });

  it('does not take the breaking off of an effect for its end', async () => {
    const begun = createDeferred<void>();
    const side = await createJournalledSide({
      handler: (job) =>
        job.effect('pay', async ({ signal }) => {
          begun.resolve();
          await toldToStop(signal);
          throw signal.reason as Error;
        }),
    });
    const task = await side.begin();
    await begun.promise;
    const closed = side.runtime.close(0);
    await settleDown();
    side.clock.advance(1);
    await settleDown();
    await closed;
    const next = await side.dieAndRise();
    expect(await next.outcome(task)).toMatchObject({
      error: { data: { reason: 'outcome_unknown', effect: 'pay' } },
    });
  });
});
