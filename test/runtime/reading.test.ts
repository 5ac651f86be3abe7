import { describe, expect, it } from 'vitest';
import { createPrincipal, type Principal } from '../../src/identity/principal.ts';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Task } from '../../src/protocol/model.ts';
import type { RunEnd } from '../../src/runtime/job.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  ANYONE,
  BOB,
  CAROL,
  answered,
  createReceivingSide,
  payTool,
  settleDown,
  until,
  type ReceivingSide,
} from './receiving-side.ts';

const never = (): Promise<RunEnd> => new Promise(() => undefined);
const HOUR = 3_600_000;

/** Everything that a principal can try with an id. */
async function everythingWith(side: ReceivingSide, principal: Principal, id: string) {
  const { receiver } = side.runtime;
  return {
    view: await receiver.view(principal, id, false),
    outcome: await receiver.view(principal, id, true),
    wait: await receiver.wait(principal, id, { forMs: 1e9, untilAsked: true }),
    answer: await receiver.answer(principal, id, {}),
    atOnce: await receiver.cancel(principal, id, 'at-once'),
    cooperative: await receiver.cancel(principal, id, 'cooperative'),
  };
}

describe("somebody else's task", () => {
  verifies(
    ['G1-99', 'G1-100', 'G2-125', 'G2-126', 'G2-127', 'T13'],
    'is for everybody else what an unknown id is, and stays as it was',
    async () => {
      const side = await createReceivingSide({ run: never });
      await side.open();
      const task = await side.call();
      await side.runtime.receiver.handleGiven(task.id);
      const before = await side.row(task);
      const unscoped = createPrincipal({ ...ALICE, scopes: ['op.read'] });
      for (const stranger of [BOB, CAROL, ANYONE, unscoped]) {
        const unknown = await everythingWith(side, stranger, 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA');
        expect(await everythingWith(side, stranger, task.id)).toEqual(unknown);
      }
      expect(await side.row(task)).toEqual(before);
    },
  );

  verifies(
    ['G1-79', 'G1-80'],
    "is on nobody else's list; nobody in particular has none",
    async () => {
      const side = await createReceivingSide({ run: never });
      const mine = await side.call();
      const anonymous = await side.call({ principal: ANYONE });
      for (const task of [mine, anonymous]) await side.runtime.receiver.handleGiven(task.id);
      const listed = async (who: Principal) => {
        const page = await side.runtime.receiver.list(who, undefined);
        return page.kind === 'page' ? page.page.tasks.map(({ id }) => id) : page.kind;
      };
      expect(await listed(ALICE)).toEqual([mine.id]);
      for (const who of [BOB, CAROL, ANYONE]) expect(await listed(who)).toEqual([]);
    },
  );

  verifies(
    'T12',
    "is the same person's under a new token, and the anonymous one's by its id",
    async () => {
      const side = await createReceivingSide({ run: never });
      const [mine, anonymous] = [await side.call(), await side.call({ principal: ANYONE })];
      const renewed = createPrincipal({ ...ALICE, expiresAt: 1e15 });
      expect(await side.runtime.receiver.view(renewed, mine.id, false)).toBeDefined();
      expect(await side.runtime.receiver.view(ANYONE, anonymous.id, false)).toBeDefined();
      expect(await side.runtime.receiver.cancel(ANYONE, anonymous.id, 'at-once')).toMatchObject({
        kind: 'cancelled',
      });
    },
  );

  verifies('T42', 'needs the scope for what is wanted at that moment', async () => {
    const side = await createReceivingSide({ run: async () => answered('secret') });
    await side.open();
    const task = await side.call();
    await side.outcome(task);
    const reader = createPrincipal({ ...ALICE, scopes: ['task.read'] });
    expect(await side.runtime.receiver.view(reader, task.id, false)).toMatchObject({
      task: { phase: 'ended' },
    });
    expect(await side.runtime.receiver.view(reader, task.id, true)).toBeUndefined();
    expect(await side.runtime.receiver.cancel(reader, task.id, 'at-once')).toEqual({
      kind: 'missing',
    });
  });
});

describe('the list', () => {
  verifies(
    ['G1-75', 'G1-76', 'G1-78', 'T14'],
    'gives every task once, newest first, page by page',
    async () => {
      const clock = createManualClock();
      const side = await createReceivingSide({ clock, run: never });
      const ids: string[] = [];
      for (let index = 0; index < 120; index += 1) {
        const task = await side.call();
        await side.runtime.receiver.handleGiven(task.id);
        ids.unshift(task.id);
        clock.advance(1);
      }
      const pages: string[][] = [];
      for (let cursor: string | undefined; ;) {
        const listed = await side.runtime.receiver.list(ALICE, cursor);
        if (listed.kind !== 'page') throw new Error(listed.kind);
        pages.push(listed.page.tasks.map(({ id }) => id));
        cursor = listed.page.nextCursor;
        if (cursor === undefined) break;
      }
      expect(pages.map((page) => page.length)).toEqual([50, 50, 20]);
      expect(pages.flat()).toEqual(ids);
    },
  );

  verifies(['G1-91', 'T14'], 'refuses a cursor that is foreign, altered or none', async () => {
    const side = await createReceivingSide({ run: never, limits: { pageSize: 1 } });
    for (let index = 0; index < 2; index += 1)
      await side.runtime.receiver.handleGiven((await side.call()).id);
    const listed = await side.runtime.receiver.list(ALICE, undefined);
    const cursor = (listed.kind === 'page' && listed.page.nextCursor) || '';
    expect((await side.runtime.receiver.list(ALICE, cursor)).kind).toBe('page');
    for (const [who, text] of [
      [CAROL, cursor],
      [ALICE, `${cursor}x`],
      [ALICE, ''],
      [ALICE, 'MQ=='],
    ] as const)
      expect(await side.runtime.receiver.list(who, text)).toEqual({ kind: 'bad_cursor' });
  });

  it('has every call whose handle left or is on its way, and none that is answered inline', async () => {
    const side = await createReceivingSide({ run: never });
    const [pending, inline] = [await side.call(), await side.call()];
    await side.runtime.receiver.answeredInline(inline.id);
    const listed = { page: { tasks: [{ id: pending.id }] } };
    expect(await side.runtime.receiver.list(ALICE, undefined)).toMatchObject(listed);
    await side.runtime.receiver.handleGiven(pending.id);
    expect(await side.runtime.receiver.list(ALICE, undefined)).toMatchObject(listed);
  });
});

describe('a wait', () => {
  const wait = (
    side: ReceivingSide,
    task: Task,
    options: { forMs?: number; untilAsked?: boolean; signal?: AbortSignal } = {},
  ) => side.runtime.receiver.wait(ALICE, task.id, { forMs: 1e9, untilAsked: false, ...options });

  verifies(
    ['G1-36', 'T5'],
    'lasts until the end, whichever it is, and not a poll longer',
    async () => {
      const clock = createManualClock();
      const finish = createDeferred<RunEnd>();
      const side = await createReceivingSide({ clock, run: () => finish.promise });
      await side.open();
      const [done, cancelled] = [await side.call(), await side.call()];
      const waits = [wait(side, done), wait(side, cancelled), wait(side, done)];
      await until(() => side.runtime.stats().waiters === 3);
      await side.runtime.receiver.cancel(ALICE, cancelled.id, 'at-once');
      finish.resolve(answered('done'));
      expect(await Promise.all(waits)).toEqual(['ended', 'ended', 'ended']);
      expect(await wait(side, done)).toBe('ended');
      expect(side.runtime.stats().waiters).toBe(0);
    },
  );

  it('ends early when its time is over, it is called off, or the task asks', async () => {
    const clock = createManualClock();
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        await job.ask([{ method: 'elicitation/create', params: { message: '?' } }]);
        return answered('');
      },
    });
    const task = await side.call();
    const caller = new AbortController();
    const waits = [
      wait(side, task, { forMs: 20_000 }),
      wait(side, task, { signal: caller.signal }),
      wait(side, task, { untilAsked: true }),
    ];
    await until(() => side.runtime.stats().waiters === 3);
    clock.advance(20_000);
    caller.abort();
    await settleDown();
    await side.open();
    expect(await Promise.all(waits)).toEqual(['elapsed', 'aborted', 'asked']);
    expect(await wait(side, task, { untilAsked: true })).toBe('asked');
    expect(await wait(side, task, { signal: caller.signal })).toBe('aborted');
  });

  verifies(
    ['T7', 'G1-87'],
    "is answered when the record's time is up, before the record goes",
    async () => {
      const clock = createManualClock();
      const side = await createReceivingSide({ clock, run: never });
      const task = await side.call({ wantedTtlMs: 0 });
      const waiting = wait(side, task);
      await until(() => side.runtime.stats().waiters === 1);
      clock.advance(task.ttlMs);
      expect(await waiting).toBe('ended');
      expect(await side.runtime.receiver.view(ALICE, task.id, true)).toBeUndefined();
    },
  );

  it("is answered by the sweep when the wall clock jumps over the record's time", async () => {
    const clock = createManualClock();
    const signals: AbortSignal[] = [];
    const side = await createReceivingSide({
      clock,
      run: (job) => (signals.push(job.signal), never()),
    });
    await side.open();
    const task = await side.call();
    const waiting = wait(side, task);
    await until(() => side.runtime.stats().waiters === 1 && signals.length === 1);
    clock.jump(task.ttlMs);
    const swept = await side.runtime.sweep();
    expect(await waiting).toBe('ended');
    expect([swept.overdue, signals[0]?.reason]).toEqual([1, 'run_limit']);
  });
});

describe('expiry', () => {
  verifies(
    ['G1-88', 'G1-90', 'G2-114', 'G2-112', 'T7'],
    'is the same for every method at the same moment, before any sweep',
    async () => {
      const clock = createManualClock();
      const side = await createReceivingSide({ clock, run: async () => answered('done') });
      await side.open();
      const task = await side.call();
      await side.runtime.receiver.handleGiven(task.id);
      await side.outcome(task);
      clock.advance(task.ttlMs - 1);
      expect(await side.view(task)).toMatchObject({ outcome: { kind: 'result' } });
      clock.advance(1);
      const unknown = await everythingWith(side, ALICE, 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA');
      expect(await everythingWith(side, ALICE, task.id)).toEqual(unknown);
      expect(await side.runtime.receiver.list(ALICE, undefined)).toMatchObject({
        page: { tasks: [] },
      });
      expect((await side.runtime.sweep()).deleted).toBe(1);
    },
  );

  verifies(
    ['T32', 'G2-111'],
    'of open work ends it first, stops it, and tells the ledger that nobody knows',
    async () => {
      const clock = createManualClock();
      const side = await createReceivingSide({
        clock,
        run: async (job) => {
          await job.dispatched();
          return never();
        },
      });
      await side.open();
      const task = await side.call({ tool: payTool });
      const ends: unknown[] = [];
      side.runtime.feed.watchAll(
        (event) => event.kind === 'changed' && ends.push(event.task.ending, event.task.message),
      );
      await until(async () => (await side.operationState(task)) === 'dispatched');
      clock.jump(task.ttlMs);
      expect(await side.runtime.sweep()).toMatchObject({ overdue: 1, deleted: 1 });
      expect(ends).toEqual(['error', 'Task TTL elapsed']);
      expect(await side.operationState(task)).toBe('unknown');
    },
  );

  verifies(
    ['G1-119', 'G2-143'],
    'deletes a backlog round by round, and never an operation',
    async () => {
      const clock = createManualClock();
      const side = await createReceivingSide({
        clock,
        run: async () => answered(''),
        limits: { sweepBatch: 3 },
      });
      await side.open();
      for (let index = 0; index < 40; index += 1) await side.call({ tool: payTool });
      await until(async () => (await side.store.tasks.counts()).ended === 40);
      clock.jump(60 * HOUR);
      const rounds: number[] = [];
      for (let left = 40; left > 0; left -= rounds.at(-1) ?? 0)
        rounds.push((await side.runtime.sweep()).deleted);
      expect(rounds).toEqual([30, 10]);
      expect((await side.store.operations.counts()).abandoned).toBe(40);
    },
  );
});

describe('a clock that jumps', () => {
  it('back and forth harms no run limit, no wait and no order of updates', async () => {
    const clock = createManualClock();
    const finish = createDeferred<void>();
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        job.status('one');
        await finish.promise;
        job.status('two');
        return answered('done');
      },
    });
    const updates: number[] = [];
    side.runtime.feed.watchAll(
      (event) => event.kind === 'changed' && updates.push(event.task.updatedAt),
    );
    await side.open();
    const task = await side.call();
    const waiting = side.runtime.receiver.wait(ALICE, task.id, { forMs: 1e9, untilAsked: false });
    await until(() => updates.length === 2);
    clock.jump(-10 * HOUR);
    clock.advance(5_000);
    await settleDown();
    clock.jump(20 * HOUR);
    clock.advance(5_000);
    await settleDown();
    clock.jump(-10 * HOUR);
    await side.runtime.sweep();
    finish.resolve();
    expect(await waiting).toBe('ended');
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(updates).toEqual(updates.toSorted((a, b) => a - b));
  });
});

describe('what a reader is shown', () => {
  it('says to poll less often as the task gets older', async () => {
    const clock = createManualClock();
    const side = await createReceivingSide({ clock, run: never });
    const task = await side.call();
    const hint = async () => (await side.view(task))?.task.pollIntervalMs;
    expect([task.pollIntervalMs, await hint()]).toEqual([1_000, 1_000]);
    clock.advance(60_000);
    expect(await hint()).toBe(3_000);
    clock.advance(HOUR);
    expect(await hint()).toBe(15_000);
  });
});
