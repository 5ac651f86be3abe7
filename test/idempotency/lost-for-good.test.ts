import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { RunEnd } from '../../src/runtime/job.ts';
import type { Call } from '../../src/runtime/receiver.ts';
import { knownWords } from '../../src/runtime/idempotency/repeat-words.ts';
import { OPERATION_STATES } from '../../src/ledger/operation.ts';
import {
  ANYONE,
  answered,
  callOf,
  createReceivingSide,
  payTool,
  readTool,
  stopped,
  type SideOptions,
} from '../runtime/receiving-side.ts';

const KEY = 'k-1';
const LOST: RunEnd = {
  outcome: { kind: 'error', error: { code: -32_603, message: 'gone' } },
  end: 'lost',
  reason: 'upstream_lost',
};

async function openSide(ends: readonly RunEnd[], options: Partial<SideOptions> = {}) {
  const clock = createManualClock();
  const runs: string[] = [];
  const side = await createReceivingSide({
    clock,
    run: async (job) => {
      const end = ends[runs.length] ?? answered('paid');
      runs.push(job.task.id);
      if (end !== stopped) await job.dispatched();
      return end;
    },
    ...options,
  });
  await side.open();
  const start = (but: Partial<Call> = {}) =>
    side.runtime.receiver.start({ ...callOf(payTool), idempotencyKey: KEY, ...but });
  const afterExpiry = async (): Promise<void> => {
    clock.advance(60 * 86_400_000);
    await side.runtime.sweep();
  };
  return { side, runs, start, afterExpiry };
}

describe('the first attempt may have been committed, and nobody knows', () => {
  test('while its record lives, the repeat gets its unknown outcome and nothing runs again [D5]', async () => {
    const { side, runs, start } = await openSide([LOST]);
    const task = await side.call({ tool: payTool, idempotencyKey: KEY });
    await side.outcome(task);
    expect(await start()).toMatchObject({ kind: 'started', task: { id: task.id } });
    expect(runs).toHaveLength(1);
  });

  test('the record is long gone: the repeat hears what the ledger knows, and to find out first [D4, D5]', async () => {
    const { side, runs, start, afterExpiry } = await openSide([LOST]);
    await side.outcome(await side.call({ tool: payTool, idempotencyKey: KEY }));
    await afterExpiry();
    const again = await start();
    expect(again).toMatchObject({ kind: 'known', by: 'key', operation: { state: 'unknown' } });
    if (again.kind !== 'known') throw new Error(again.kind);
    const words = knownWords(again.operation, again.by);
    expect(words).toContain(again.operation.id);
    expect(words).toMatch(/do not repeat it; find out first/);
    expect(runs).toHaveLength(1);
  });

  test('without a key too, however long ago it was delivered [D5]', async () => {
    const { side, runs, start, afterExpiry } = await openSide([LOST]);
    const keyless: Partial<Call> = { newOperation: false };
    const task = await side.call({ tool: payTool, ...keyless });
    await side.outcome(task);
    await side.runtime.receiver.delivered(task.id);
    await afterExpiry();
    const { idempotencyKey: _, ...call } = { ...callOf(payTool), ...keyless };
    expect(await side.runtime.receiver.start(call)).toMatchObject({ kind: 'known', by: 'guard' });
    expect(await start({ idempotencyKey: 'k-2' })).toMatchObject({ kind: 'started' });
    expect(runs.length).toBeGreaterThanOrEqual(1);
  });

  test('every state of the ledger has words, and only where nothing happened may it be repeated', () => {
    const now = { createdAt: 0, updatedAt: 0 };
    for (const state of OPERATION_STATES) {
      const operation = {
        id: 'op_1',
        owner: 'o',
        tenant: 't',
        upstream: 'u',
        tool: 'pay',
        effect: 'consequential',
        argumentsDigest: 'd',
        taskId: 'tsk_1',
        state,
        ...now,
      } as const;
      const allowed = /may be repeated/.test(knownWords(operation, 'key'));
      expect(allowed, state).toBe(state === 'absent' || state === 'abandoned');
    }
  });
});

describe('nothing happened', () => {
  test('the same key does it after all, as a new task on the same operation', async () => {
    const { side, runs, start } = await openSide([stopped]);
    const first = await side.call({ tool: payTool, idempotencyKey: KEY });
    await side.outcome(first);
    expect(await side.operationState(first)).toBe('abandoned');
    const again = await start();
    if (again.kind !== 'started') throw new Error(again.kind);
    expect(again.deduplicated).toBeUndefined();
    expect(again.task.operationId).toBe(first.operationId);
    await side.outcome(again.task);
    expect(await side.operationState(again.task)).toBe('acknowledged');
    expect(runs).toEqual([first.id, again.task.id]);
  });

  test('a refusal for want of room leaves no claim behind', async () => {
    const { side, start } = await openSide([], {
      open: 1,
      run: () => new Promise(() => undefined),
    });
    const blocker = await side.call({ tool: readTool });
    expect(await start()).toMatchObject({ kind: 'full', limit: 'perPrincipal' });
    await side.runtime.receiver.cancel(callOf(readTool).principal, blocker.id, 'at-once');
    const other = await start({ arguments: { invoice: 'other' } });
    expect(other).toMatchObject({ kind: 'started' });
    expect(other).not.toHaveProperty('deduplicated');
  });

  test('a repeat is answered where there is no room for anything new', async () => {
    const { side, start } = await openSide([], {
      open: 1,
      run: () => new Promise(() => undefined),
    });
    const task = await side.call({ tool: payTool, idempotencyKey: KEY });
    expect(await start()).toMatchObject({ task: { id: task.id }, deduplicated: 'key' });
  });
});

describe('callers who cannot be told apart', () => {
  const LONG = '6f1c1c1e-5d2c-4a3e-9c0a-3a1f5d1f8b11';

  test('a key that nobody can guess is as good as an id', async () => {
    const { start } = await openSide([]);
    const first = await start({ principal: ANYONE, idempotencyKey: LONG });
    const again = await start({ principal: ANYONE, idempotencyKey: LONG });
    if (first.kind !== 'started' || again.kind !== 'started') throw new Error(again.kind);
    expect(again.task.id).toBe(first.task.id);
  });

  test('one that others may have chosen too is refused', async () => {
    const { start } = await openSide([]);
    expect(await start({ principal: ANYONE, idempotencyKey: 'order-17' })).toMatchObject({
      kind: 'bad_key',
    });
  });

  test('a key from arguments still protects the effect, and hands nobody another’s task', async () => {
    const { side, runs } = await openSide([]);
    const tool = { ...payTool, idempotency: { from: ['invoice'] } };
    const call = { ...callOf(tool, { invoice: 'i-1' }), principal: ANYONE };
    const first = await side.runtime.receiver.start(call);
    if (first.kind !== 'started') throw new Error(first.kind);
    await side.outcome(first.task);
    expect(await side.runtime.receiver.start(call)).toMatchObject({
      kind: 'known',
      operation: { id: first.task.operationId },
    });
    expect(runs).toHaveLength(1);
  });
});
