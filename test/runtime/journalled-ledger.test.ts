import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { ALICE, callOf, settleDown, until } from './receiving-side.ts';
import { createJournalledSide, journalledRead, journalledTool, result } from './journalled-side.ts';

const APPROVAL = {
  message: 'Deploy?',
  schema: { type: 'object', properties: { yes: { type: 'boolean' } } },
} as const;

describe('a consequential handler that acts in steps alone', () => {
  it('is dispatched with its first step, and acknowledged when it has answered', async () => {
    const deployed = createDeferred<string>();
    const side = await createJournalledSide({
      handler: async (job) => result(await job.step('deploy', () => deployed.promise)),
    });
    const task = await side.begin();
    await until(async () => (await side.operationState(task)) === 'dispatched');
    deployed.resolve('v7');
    await side.outcome(task);
    expect(await side.operationState(task)).toBe('acknowledged');
  });

  it('never runs again under its key, not even when its record has expired', async () => {
    const runs: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => result(await job.step('deploy', () => (runs.push(job.taskId), 'v7'))),
    });
    const call = { ...callOf(journalledTool), idempotencyKey: 'deploy-7' };
    const task = await side.call(call);
    await side.outcome(task);
    side.clock.advance(task.ttlMs + 1);
    await side.runtime.sweep();
    const again = await side.runtime.receiver.start(call);
    expect(again.kind).not.toBe('started');
    await settleDown();
    expect(runs).toEqual([task.id]);
  });

  it('still goes on behind its finished steps after a death', async () => {
    const done: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        await job.step('build', () => void done.push('build'));
        await job.step('deploy', () => {
          done.push('deploy');
          return done.length < 3 ? new Promise(() => undefined) : 'v7';
        });
        return result('v7');
      },
    });
    const task = await side.begin();
    await until(() => done.length === 2);
    const next = await side.dieAndRise();
    expect(await next.outcome(task)).toEqual({ kind: 'result', result: result('v7') });
    expect(done).toEqual(['build', 'deploy', 'deploy']);
    expect(await next.operationState(task)).toBe('acknowledged');
  });

  it('that is cancelled between its steps has an outcome that nobody knows', async () => {
    const side = await createJournalledSide({
      handler: async (job) => {
        const now = await job.step('deploy', () => side.clock.now());
        await job.sleepUntil('bake', now + 60_000);
        return result('v7');
      },
    });
    const task = await side.begin();
    await until(async () => (await side.store.attempts.listOf(task.id)).length === 2);
    await side.runtime.receiver.cancel(ALICE, task.id, 'cooperative');
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect(await side.operationState(task)).toBe('unknown');
  });

  it('goes on when its caller has left without a handle', async () => {
    const deployed = createDeferred<string>();
    const begun = createDeferred<void>();
    const side = await createJournalledSide({
      handler: async (job) =>
        result(await job.step('deploy', () => (begun.resolve(), deployed.promise))),
    });
    const task = await side.call({ ...callOf(journalledTool), origin: 'plain' });
    await begun.promise;
    await side.runtime.receiver.abandon(task.id, { stopUpstream: false });
    deployed.resolve('v7');
    await side.outcome(task);
    expect(await side.operationState(task)).toBe('acknowledged');
  });

  it('says at its run limit that it may have taken effect', async () => {
    const begun = createDeferred<void>();
    const side = await createJournalledSide({
      handler: (job) => job.step('deploy', () => (begun.resolve(), new Promise(() => undefined))),
    });
    const task = await side.begin();
    await begun.promise;
    side.clock.advance(journalledTool.runLimitMs);
    await settleDown();
    side.clock.advance(60_000);
    const { operationId } = task;
    expect(await side.outcome(task)).toMatchObject({
      error: { data: { reason: 'run_limit', operationId } },
    });
  });
});

describe('nothing is sent', () => {
  it('where an approval was declined before the first step', async () => {
    const side = await createJournalledSide({
      handler: async (job) => {
        const { action } = await job.ask('approve', APPROVAL);
        if (action !== 'accept') return result('not deployed');
        return result(await job.step('deploy', () => 'v7'));
      },
    });
    const task = await side.begin();
    await until(async () => (await side.view(task))?.inputs.length === 1);
    const [question] = (await side.view(task))?.inputs ?? [];
    const answers = {
      [question?.key ?? '']: { kind: 'result', result: { action: 'decline' } },
    } as const;
    await side.runtime.receiver.answer(ALICE, task.id, answers);
    await side.outcome(task);
    expect(await side.operationState(task)).toBe('abandoned');
  });

  it('by the steps of a read', async () => {
    const side = await createJournalledSide({
      handler: async (job) => result(await job.step('look', () => 'seen')),
    });
    const task = await side.begin(journalledRead);
    await side.outcome(task);
    expect(await side.store.operations.list('system', { limit: 10 })).toEqual([]);
  });
});
