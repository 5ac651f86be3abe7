import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { EffectSite } from '../../src/runtime/steps/context.ts';
import type { Operation } from '../../src/ledger/operation.ts';
import {
  createJournalledSide,
  journalledRead,
  result,
  type Handler,
  type JournalledSide,
} from './journalled-side.ts';
import { settleDown, until } from './receiving-side.ts';

async function effectOf(side: JournalledSide, wanted: string): Promise<Operation | undefined> {
  const operations = await side.store.operations.list('system', { limit: 10 });
  const id = operations.find(({ name }) => name === wanted)?.id ?? '';
  return side.store.operations.get('system', id);
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('an effect', () => {
  it('is dispatched in the ledger before it begins, and acknowledged with its receipt after it', async () => {
    const site = createDeferred<EffectSite>();
    const answer = createDeferred<string>();
    const side = await createJournalledSide({
      handler: async (job) => {
        const paid = await job.effect('pay', (at) => (site.resolve(at), answer.promise));
        return result(paid);
      },
    });
    const task = await side.begin();
    const { operationId, key } = await site.promise;
    const sent = await side.store.operations.get('system', operationId);
    expect(sent).toMatchObject({ state: 'dispatched', parentId: task.operationId, name: 'pay' });
    expect(await side.operationState(task)).toBe('dispatched');
    expect(key).toMatch(/^lck_[\w-]{43}$/);

    answer.resolve('receipt-1');
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('receipt-1') });
    const paid = await side.store.operations.get('system', operationId);
    expect(paid).toMatchObject({ state: 'acknowledged', receipt: 'receipt-1' });
    expect(await side.operationState(task)).toBe('acknowledged');
  });

  it('has the same key in each attempt, and another one than every other effect and call', async () => {
    const keys: Record<string, string[]> = {};
    const handler: Handler = async (job) => {
      (keys[`call ${job.taskId}`] ??= []).push(job.key);
      await job.effect('one', ({ key }) => void (keys[`one ${job.taskId}`] ??= []).push(key));
      await job.effect('two', ({ key }) => void (keys[`two ${job.taskId}`] ??= []).push(key));
      await job.sleepUntil('pause', (await job.step('now', () => side.clock.now())) + 10);
      return result('done');
    };
    const side = await createJournalledSide({ handler });
    const tasks = [await side.begin(), await side.begin()];
    await settleDown();
    side.clock.advance(10);
    for (const task of tasks) await side.outcome(task);
    for (const task of tasks) expect(new Set(keys[`call ${task.id}`]).size).toBe(1);
    const all = Object.values(keys).map(([key]) => key);
    expect(new Set(all).size).toBe(6);
  });

  it('that a death has cut off is never sent again: its outcome is unknown, and what had finished is told', async () => {
    const sent: string[] = [];
    const handler: Handler = async (job) => {
      await job.effect('reserve', () => (sent.push('reserve'), 'r-1'));
      await job.effect('pay', () => (sent.push('pay'), never()));
      return result('paid');
    };
    const side = await createJournalledSide({ handler });
    const task = await side.begin();
    await until(() => sent.length === 2);
    const next = await side.dieAndRise();
    const outcome = await next.outcome(task);
    const operations = await next.store.operations.list('system', { limit: 10 });
    const pay = operations.find(({ name }) => name === 'pay');
    const reserve = operations.find(({ name }) => name === 'reserve');
    expect(outcome).toMatchObject({
      kind: 'error',
      error: {
        code: -32603,
        data: {
          reason: 'outcome_unknown',
          operationId: pay?.id,
          effect: 'pay',
          effects: [
            { name: 'reserve', operationId: reserve?.id, outcome: 'done' },
            { name: 'pay', operationId: pay?.id, outcome: 'unknown' },
          ],
        },
      },
    });
    const said = outcome.kind === 'error' ? outcome.error.message : '';
    expect(said).toContain('do not repeat it before that was checked');
    expect(said).toContain(`Done by then: reserve (${reserve?.id}).`);
    expect([reserve?.state, pay?.state]).toEqual(['acknowledged', 'unknown']);
    await settleDown();
    expect(sent).toEqual(['reserve', 'pay']);
  });

  it('that threw stays unknown in the ledger, and its handler gets the error, in each attempt', async () => {
    const caught: unknown[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        try {
          await job.effect('pay', () => {
            throw Object.assign(new TypeError('402 no money, token=abc123'), { code: 402 });
          });
        } catch (thrown) {
          caught.push(thrown);
        }
        await job.sleepUntil('pause', (await job.step('now', () => side.clock.now())) + 10);
        return result('refused');
      },
    });
    const task = await side.begin();
    await settleDown();
    side.clock.advance(10);
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(caught).toHaveLength(2);
    for (const thrown of caught)
      expect(thrown).toMatchObject({
        name: 'TypeError',
        code: 402,
        message: '402 no money, token=[redacted]',
      });
    const operation = await effectOf(side, 'pay');
    expect(operation).toMatchObject({ state: 'unknown', reason: 'error' });
  });

  it('that took place but returned no JSON is acknowledged, and its handler hears why it was not kept', async () => {
    const side = await createJournalledSide({
      handler: async (job) => job.effect('pay', () => new Date(0) as unknown as string),
    });
    const outcome = await side.outcome(await side.begin());
    expect(outcome).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('the step "pay" returned something') as string },
    });
    const operation = await effectOf(side, 'pay');
    expect(operation?.state).toBe('acknowledged');
  });

  it('is refused to a tool that is declared as read', async () => {
    let sent = 0;
    const side = await createJournalledSide({
      handler: (job) => job.effect('pay', () => void (sent += 1)),
    });
    const outcome = await side.outcome(await side.begin(journalledRead));
    expect(outcome).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('declared as read') as string },
    });
    expect(sent).toBe(0);
  });

  it('too large for the ledger is told there by its hash, and comes back whole', async () => {
    const large = 'x'.repeat(20_000);
    const side = await createJournalledSide({
      handler: async (job) => result(String((await job.effect('load', () => large)).length)),
    });
    expect(await side.outcome(await side.begin())).toEqual({
      kind: 'result',
      result: result('20000'),
    });
    const operation = await effectOf(side, 'load');
    expect(operation?.receipt).toMatchObject({
      truncated: true,
      bytes: 20_002,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  it('is waited for when another one that runs beside it fails, so that the end knows of both', async () => {
    const slow = createDeferred<string>();
    const begun: string[] = [];
    const side = await createJournalledSide({
      handler: (job) =>
        Promise.all([
          job.effect('slow', () => (begun.push('slow'), slow.promise)),
          job.step('fails', () => {
            begun.push('fails');
            throw new Error('no luck');
          }),
        ]),
    });
    const task = await side.begin();
    await until(() => begun.length === 2);
    await settleDown();
    expect((await side.row(task)).phase).toBe('working');
    slow.resolve('came through');
    expect(await side.outcome(task)).toMatchObject({
      kind: 'error',
      error: { data: { effects: [{ name: 'slow', outcome: 'done' }] } },
    });
  });

  it('that the handler did not wait for is not lost without a word', async () => {
    const side = await createJournalledSide({
      handler: (job) => {
        void job.effect('pay', () => 'paid');
        return result('done');
      },
    });
    expect(await side.outcome(await side.begin())).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('returned without awaiting it') as string },
    });
  });

  it('whose answer came when its attempt had been given up is taken for done: the ledger knows of it', async () => {
    const answer = createDeferred<string>();
    const begun: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        const paid = await job.effect('pay', () => (begun.push('pay'), answer.promise));
        await job.step('note', () => void begun.push('note'));
        return result(paid);
      },
    });
    const task = await side.begin();
    await until(() => begun.length === 1);
    await side.store.attempts.listOrphaned('another process', true);
    answer.resolve('receipt-3');
    await settleDown();
    expect((await effectOf(side, 'pay'))?.state).toBe('acknowledged');
    expect(await side.store.journal.read(task.id)).toHaveLength(1);

    const next = await side.dieAndRise();
    expect(await next.outcome(task)).toEqual({ kind: 'result', result: result('receipt-3') });
    expect(begun).toEqual(['pay', 'note']);
  });
});
