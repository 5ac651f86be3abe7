import { describe, expect, it } from 'vitest';
import { createDeferred, type Deferred } from '../../kernel/deferred.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { createManualClock } from '../../kernel/manual-clock.ts';
import type { Attempt, ClaimAttempts, ClaimedAttempt } from '../../stores/attempts.ts';
import type { Store } from '../../stores/store.ts';
import type { Slot } from '../engine.ts';
import { createEmbeddedEngine, type EmbeddedEngineOptions } from './embedded-engine.ts';

/** A queue in memory: what the engine asks of the store, counted as the store counts it. */
function createQueue() {
  const queued: ClaimedAttempt[] = [];
  const running: string[] = [];
  const claims: ClaimAttempts[] = [];
  let nextClaim: Promise<void> = Promise.resolve();
  const add = (tool: string): void => {
    const attempt = {
      id: `att_${queued.length + claims.length}`,
      taskId: 't',
      number: 1,
      epoch: 1,
      state: 'running',
    } as Attempt;
    queued.push({
      attempt,
      task: { id: 't', tool } as ClaimedAttempt['task'],
      request: { arguments: {}, meta: {} },
    });
  };
  const claim = async (params: ClaimAttempts): Promise<readonly ClaimedAttempt[]> => {
    claims.push(params);
    await nextClaim;
    const taken: ClaimedAttempt[] = [];
    for (const candidate of Array.from(queued)) {
      const { tool } = candidate.task;
      const cap = params.runningPerTool[tool] ?? Infinity;
      if (taken.length >= params.limit || running.filter((name) => name === tool).length >= cap)
        continue;
      queued.splice(queued.indexOf(candidate), 1);
      running.push(tool);
      taken.push(candidate);
    }
    return taken;
  };
  const ended = (tool: string): void => void running.splice(running.indexOf(tool), 1);
  const holdClaims = (until: Promise<void>): void => void (nextClaim = until);
  const store = { attempts: { claim } as unknown as Store['attempts'] };
  return { add, claims, queued, running, ended, holdClaims, store };
}

interface Run {
  readonly tool: string;
  readonly slot: Slot;
  readonly end: Deferred<void>;
}

function setUp(options: Partial<EmbeddedEngineOptions> = {}) {
  const queue = createQueue();
  const clock = createManualClock();
  const runs: Run[] = [];
  const engine = createEmbeddedEngine({
    store: queue.store,
    owner: 'boot_1',
    clock,
    logger: silentLogger,
    slots: 2,
    parkedMax: 10,
    runningPerTool: () => ({}),
    leaseMs: 15_000,
    sweepEveryMs: 1_000,
    ...options,
  });
  const start = (): void =>
    engine.start(async ({ task }, slot) => {
      const end = createDeferred<void>();
      runs.push({ tool: task.tool, slot, end });
      await end.promise.finally(() => queue.ended(task.tool));
    });
  return { queue, clock, runs, engine, start };
}

const settleDown = async (): Promise<void> => {
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('the embedded engine', () => {
  it('runs no more than it has slots for, and the next one when one is free', async () => {
    const { queue, runs, engine, start } = setUp();
    for (let index = 0; index < 3; index += 1) queue.add('a');
    start();
    await settleDown();
    expect([runs.length, engine.runningCount()]).toEqual([2, 2]);
    runs[0]?.end.resolve();
    await settleDown();
    expect([runs.length, engine.runningCount()]).toEqual([3, 2]);
  });

  it('frees the slot of a run that rejects', async () => {
    const { queue, runs, engine, start } = setUp({ slots: 1 });
    queue.add('a');
    queue.add('a');
    start();
    await settleDown();
    runs[0]?.end.reject(new Error('it must not'));
    await settleDown();
    expect([runs.length, engine.runningCount()]).toEqual([2, 1]);
  });

  it('looks when it is woken, once for many calls, and by itself when it is not', async () => {
    const { queue, clock, runs, engine, start } = setUp();
    start();
    await settleDown();
    queue.add('a');
    for (let calls = 0; calls < 100; calls += 1) engine.wake();
    await settleDown();
    expect([runs.length, queue.claims.length]).toEqual([1, 3]);
    queue.add('a');
    clock.advance(1_000);
    await settleDown();
    expect(runs.length).toBe(2);
  });

  it('does not lose a wake that comes while it claims', async () => {
    const { queue, runs, engine, start } = setUp();
    const held = createDeferred<void>();
    start();
    await settleDown();
    queue.holdClaims(held.promise);
    engine.wake();
    engine.wake();
    held.resolve();
    await settleDown();
    queue.add('a');
    engine.wake();
    await settleDown();
    expect(runs).toHaveLength(1);
  });

  it("gives a parked run's slot to others and lets it come back at once", async () => {
    const { queue, runs, engine, start } = setUp({ slots: 1 });
    queue.add('a');
    queue.add('b');
    queue.add('c');
    start();
    await settleDown();
    expect(runs[0]?.slot.park()).toBe(true);
    await settleDown();
    expect([runs.map(({ tool }) => tool), engine.runningCount(), engine.parkedCount()]).toEqual([
      ['a', 'b'],
      1,
      1,
    ]);
    runs[0]?.slot.unpark();
    expect(engine.runningCount()).toBe(2);
    runs[1]?.end.resolve();
    await settleDown();
    expect(runs).toHaveLength(2);
    runs[0]?.end.resolve();
    await settleDown();
    expect(runs).toHaveLength(3);
  });

  it('parks no more than its cap', async () => {
    const { queue, runs, start } = setUp({ slots: 3, parkedMax: 1 });
    queue.add('a');
    queue.add('a');
    start();
    await settleDown();
    expect(runs.map(({ slot }) => slot.park())).toEqual([true, false]);
    runs[0]?.slot.unpark();
    expect(runs[1]?.slot.park()).toBe(true);
  });

  it('keeps no other call of the tool waiting for one that is parked', async () => {
    const { queue, runs, start } = setUp({ slots: 5, runningPerTool: () => ({ a: 1 }) });
    queue.add('a');
    queue.add('a');
    queue.add('a');
    start();
    await settleDown();
    expect(runs).toHaveLength(1);
    runs[0]?.slot.park();
    await settleDown();
    expect(runs).toHaveLength(2);
  });

  it('stops claiming, waits for what runs, and no longer than the grace', async () => {
    const { queue, clock, runs, engine, start } = setUp();
    queue.add('a');
    start();
    await settleDown();
    queue.add('a');
    let stopped = false;
    const stop = engine.stop(500).then(() => (stopped = true));
    await settleDown();
    engine.wake();
    clock.advance(499);
    await settleDown();
    expect([stopped, runs.length]).toEqual([false, 1]);
    clock.advance(1);
    await stop;
    expect(clock.armed()).toBe(0);
  });

  it('stops at once when nothing runs, or when the last run ends', async () => {
    const { queue, runs, engine, start } = setUp();
    queue.add('a');
    start();
    await settleDown();
    const stop = engine.stop(1e9);
    runs[0]?.end.resolve();
    await stop;
    await engine.stop(1e9);
  });

  it('runs nothing that a claim brings after the stop: the next process finds it', async () => {
    const { queue, runs, engine, start } = setUp();
    const held = createDeferred<void>();
    queue.holdClaims(held.promise);
    queue.add('a');
    start();
    const stop = engine.stop(1e9);
    held.resolve();
    await stop;
    await settleDown();
    expect([runs.length, queue.running.length]).toEqual([0, 1]);
  });
});
