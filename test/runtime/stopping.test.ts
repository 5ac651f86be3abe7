import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Task } from '../../src/protocol/model.ts';
import type { RunEnd } from '../../src/runtime/job.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  answered,
  callOf,
  createReceivingSide,
  payTool,
  settleDown,
  stopped,
  toldToStop,
  until,
  type ReceivingSide,
} from './receiving-side.ts';

const waitLong = { forMs: 1e9, untilAsked: false };

describe('a cancel of 2025-11-25', () => {
  verifies(
    ['G1-67', 'G1-68', 'G1-69', 'T9'],
    'ends the record before it answers; what the run says later changes nothing',
    async () => {
      const finish = createDeferred<RunEnd>();
      const reasons: unknown[] = [];
      const side = await createReceivingSide({
        run: async (job) => {
          await job.dispatched();
          job.signal.addEventListener('abort', () => reasons.push(job.signal.reason));
          return finish.promise;
        },
      });
      await side.open();
      const task = await side.call({ tool: payTool, origin: '2025-11-25' });
      await until(async () => (await side.operationState(task)) === 'dispatched');
      const waiting = side.runtime.receiver.wait(ALICE, task.id, waitLong);

      const cancelled = await side.runtime.receiver.cancel(ALICE, task.id, 'at-once');
      expect(cancelled).toMatchObject({
        kind: 'cancelled',
        view: { task: { phase: 'ended', ending: 'cancelled' } },
      });
      expect(await waiting).toBe('ended');
      expect(reasons).toEqual(['cancelled']);
      expect(await side.operationState(task)).toBe('unknown');

      finish.resolve(answered('paid after all'));
      await until(async () => (await side.operationState(task)) === 'acknowledged');
      expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    },
  );

  verifies(['G1-66', 'G2-85', 'T29'], 'of an ended task says so and changes nothing', async () => {
    const side = await createReceivingSide({ run: async () => answered('done') });
    await side.open();
    const task = await side.call();
    await side.outcome(task);
    const before = await side.row(task);
    for (const how of ['at-once', 'cooperative'] as const)
      expect(await side.runtime.receiver.cancel(ALICE, task.id, how)).toMatchObject({
        kind: 'already_ended',
      });
    expect(await side.row(task)).toEqual(before);
  });

  it('keeps a queued task from ever running', async () => {
    let runs = 0;
    const side = await createReceivingSide({
      run: async () => {
        runs += 1;
        return answered('');
      },
    });
    const task = await side.call({ tool: payTool });
    await side.runtime.receiver.cancel(ALICE, task.id, 'at-once');
    await side.open();
    await settleDown();
    expect([runs, await side.operationState(task)]).toEqual([0, 'abandoned']);
  });
});

describe('a cancel of 2026-07-28', () => {
  verifies(['G2-86', 'G2-88'], 'asks the run to stop and lets it say how it ended', async () => {
    const side = await createReceivingSide({
      run: async (job) => {
        await toldToStop(job.signal);
        return job.tool.name === 'pay' ? answered('too late to stop') : stopped;
      },
    });
    await side.open();
    const [read, pay] = [await side.call(), await side.call({ tool: payTool })];
    await until(() => side.engine.runningCount() === 2);
    for (const task of [read, pay])
      expect(await side.runtime.receiver.cancel(ALICE, task.id, 'cooperative')).toMatchObject({
        kind: 'cancelled',
      });
    expect(await side.outcome(read)).toEqual({ kind: 'cancelled' });
    expect(await side.outcome(pay)).toMatchObject({ kind: 'result' });
  });

  it('ends the task at the end of the grace when the run does not, and the slot is free', async () => {
    const clock = createManualClock();
    const side = await createReceivingSide({ clock, run: () => new Promise(() => undefined) });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(() => side.engine.runningCount() === 1);
    await side.runtime.receiver.cancel(ALICE, task.id, 'cooperative');
    clock.advance(4_999);
    await settleDown();
    expect((await side.row(task)).phase).toBe('working');
    clock.advance(1);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    await until(() => side.engine.runningCount() === 0);
  });

  it('takes a handler that throws because it was stopped at its word', async () => {
    const side = await createReceivingSide({
      run: async (job) => {
        await toldToStop(job.signal);
        throw new DOMException('This operation was aborted', 'AbortError');
      },
    });
    await side.open();
    const task = await side.call();
    await until(() => side.engine.runningCount() === 1);
    await side.runtime.receiver.cancel(ALICE, task.id, 'cooperative');
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
  });

  it('ends a queued task at once', async () => {
    const side = await createReceivingSide({ run: async () => answered('') });
    const task = await side.call();
    const cancelled = await side.runtime.receiver.cancel(ALICE, task.id, 'cooperative');
    expect(cancelled).toMatchObject({ kind: 'cancelled', view: { task: { ending: 'cancelled' } } });
  });

  it('reaches a run whose process hears of it only through the store', async () => {
    const clock = createManualClock();
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        await toldToStop(job.signal);
        return { ...stopped, reason: String(job.signal.reason) };
      },
    });
    await side.open();
    const task = await side.call();
    await until(() => side.engine.runningCount() === 1);
    await side.store.tasks.requestCancel({ owner: ALICE.key, tenant: ALICE.tenant }, task.id);
    clock.advance(5_000);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
  });
});

describe('a stop that comes before the run has begun', () => {
  it.each<readonly [string, (side: ReceivingSide, task: Task) => Promise<unknown>]>([
    ['cancel', (side, { id }) => side.runtime.receiver.cancel(ALICE, id, 'at-once')],
    [
      'end of its caller',
      (side, { id }) => side.runtime.receiver.abandon(id, { stopUpstream: true }),
    ],
  ])('keeps it from beginning: a %s when its attempt was just claimed', async (_what, end) => {
    let runs = 0;
    const side = await createReceivingSide({
      run: async () => {
        runs += 1;
        return answered('');
      },
      wrap: (store) => ({
        ...store,
        attempts: {
          ...store.attempts,
          claim: async (params) => {
            const claimed = await store.attempts.claim(params);
            for (const { task } of claimed) await end(side, task);
            return claimed;
          },
        },
      }),
    });
    const task = await side.call({ tool: payTool });
    side.engine.start(side.runtime.runAttempt);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    await settleDown();
    expect([runs, side.engine.runningCount()]).toEqual([0, 0]);
  });

  it('is honoured by the process that claims it, whoever has taken it', async () => {
    let runs = 0;
    const side = await createReceivingSide({
      run: async () => {
        runs += 1;
        return answered('');
      },
    });
    const task = await side.call({ tool: payTool });
    await side.store.tasks.requestCancel('system', task.id);
    side.engine.start(side.runtime.runAttempt);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect([runs, await side.operationState(task)]).toEqual([0, 'abandoned']);
  });
});

describe("an operator's cancel", () => {
  it("follows the task's own generation, whoever owns it", async () => {
    const side = await createReceivingSide({
      run: (job) => toldToStop(job.signal).then(() => answered('finished')),
    });
    await side.open();
    const legacy = await side.call({ origin: '2025-11-25' });
    const modern = await side.call();
    await until(() => side.engine.runningCount() === 2);
    const { cancelAsOperator } = side.runtime.receiver;
    expect(await cancelAsOperator(legacy.id)).toMatchObject({
      view: { task: { ending: 'cancelled' } },
    });
    expect(await cancelAsOperator(modern.id)).toMatchObject({
      kind: 'cancelled',
      view: { task: { phase: 'working' } },
    });
    expect(await side.outcome(modern)).toMatchObject({ kind: 'result' });
    expect(await cancelAsOperator('tsk_nobody')).toEqual({ kind: 'missing' });
  });
});

describe('a caller that goes away before it has a handle', () => {
  verifies(['T27', 'G2-91'], 'leaves nothing behind where nothing was sent', async () => {
    const reasons: unknown[] = [];
    const side = await createReceivingSide({
      run: async (job) => {
        await toldToStop(job.signal);
        reasons.push(job.signal.reason, await job.dispatched());
        return stopped;
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(() => side.engine.runningCount() === 1);
    await side.runtime.receiver.abandon(task.id, { stopUpstream: false });
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect(await side.operationState(task)).toBe('abandoned');
    await until(() => reasons.length === 2);
    expect(reasons).toEqual(['abandoned', false]);
  });

  verifies('T27', 'lets what was sent finish into the ledger', async () => {
    const finish = createDeferred<RunEnd>();
    const side = await createReceivingSide({
      run: async (job) => {
        await job.dispatched();
        return finish.promise;
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(async () => (await side.operationState(task)) === 'dispatched');
    await side.runtime.receiver.abandon(task.id, { stopUpstream: false });
    expect((await side.row(task)).phase).toBe('working');
    finish.resolve(answered('paid'));
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(await side.operationState(task)).toBe('acknowledged');
    expect((await side.row(task)).handle).toBe('inline');
  });

  it('may ask to stop what was sent', async () => {
    const side = await createReceivingSide({
      run: async (job) => {
        await job.dispatched();
        await toldToStop(job.signal);
        return stopped;
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(async () => (await side.operationState(task)) === 'dispatched');
    await side.runtime.receiver.abandon(task.id, { stopUpstream: true });
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    expect(await side.operationState(task)).toBe('unknown');
  });

  it('changes nothing once the handle is out: that lives until cancel or expiry', async () => {
    const side = await createReceivingSide({
      run: (job) => toldToStop(job.signal).then(() => stopped),
    });
    await side.open();
    const task = await side.call();
    await side.runtime.receiver.handleGiven(task.id);
    await side.runtime.receiver.abandon(task.id, { stopUpstream: true });
    await settleDown();
    expect(await side.row(task)).toMatchObject({ phase: 'working', handle: 'given' });
  });
});

describe('the end of the process', () => {
  it('starts nothing, answers who waits, and settles what finishes in time', async () => {
    const finish = createDeferred<RunEnd>();
    const side = await createReceivingSide({ run: () => finish.promise });
    await side.open();
    const task = await side.call();
    await until(() => side.engine.runningCount() === 1);
    const waiting = side.runtime.receiver.wait(ALICE, task.id, waitLong);
    await until(() => side.runtime.stats().waiters === 1);
    const closed = side.runtime.close(10_000);
    expect(await waiting).toBe('aborted');
    expect(await side.runtime.receiver.start(callOf(payTool))).toEqual({ kind: 'draining' });
    finish.resolve(answered('in time'));
    await closed;
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
  });

  it('leaves to the next process what it cannot know', async () => {
    const clock = createManualClock();
    const reasons: unknown[] = [];
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        await job.dispatched();
        await toldToStop(job.signal);
        reasons.push(job.signal.reason);
        return {
          outcome: { kind: 'error', error: { code: 1, message: 'left' } },
          end: 'lost',
          reason: 'lost',
        };
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(async () => (await side.operationState(task)) === 'dispatched');
    const closed = side.runtime.close(1_000);
    await settleDown();
    clock.advance(1_000);
    await until(() => reasons.length > 0);
    await closed;
    expect(reasons).toEqual(['shutdown']);
    expect(await side.row(task)).toMatchObject({ phase: 'working' });
    expect(await side.operationState(task)).toBe('dispatched');
  });
});
