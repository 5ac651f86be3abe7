import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Call } from '../../src/runtime/receiver.ts';
import { caller2025, caller2026, errorOf, resultOf, textOf } from '../faces/wire.ts';
import {
  ALICE,
  ANYONE,
  answered,
  BOB,
  callOf,
  createReceivingSide,
  payTool as runtimePayTool,
  until,
} from '../runtime/receiving-side.ts';
import {
  CALLER_KINDS,
  DEDUPLICATED,
  handleIn,
  INVOICE,
  metaIn,
  NEW_OPERATION,
  NOTE,
  openBank,
  OPERATION_ID,
  PAID,
  payTool,
} from './callers.ts';

const WINDOW_MS = 600_000;

describe('a host retries tools/call by itself and gives no key', () => {
  test.each(CALLER_KINDS)(
    'a %s caller that sends it again while it runs gets the same call, one effect, and the way to another [D1, D7]',
    async (kind) => {
      const bank = await openBank();
      const taskId = handleIn(await bank.pay('2026-tasks'));
      const run = await bank.nextRun();
      const repeat = bank.pay(kind);
      if (kind.endsWith('plain')) bank.kit.gate.end(run, PAID);
      const answer = await repeat;
      if (kind.endsWith('plain')) expect(textOf(resultOf(answer))).toContain('paid');
      else expect(handleIn(answer)).toBe(taskId);
      const meta = metaIn(answer);
      expect(meta).toMatchObject({
        [DEDUPLICATED]: true,
        [OPERATION_ID]: run.task.operationId,
      });
      expect(meta[NOTE]).toContain(run.task.operationId);
      expect(meta[NOTE]).toContain(NEW_OPERATION);
      expect(bank.runs).toHaveLength(1);
      expect(await bank.kit.side.store.attempts.queuedCount()).toBe(0);
    },
  );

  test('the model is told in the handle itself that this is the earlier call', async () => {
    const bank = await openBank();
    await bank.pay('2025-task');
    await bank.nextRun();
    const meta = metaIn(await bank.pay('2025-task'));
    const said = String(meta['io.modelcontextprotocol/model-immediate-response']);
    expect(said).toContain('earlier call');
    expect(said).toContain(NEW_OPERATION);
  });

  test('who means another one says so, and gets it', async () => {
    const bank = await openBank();
    const first = handleIn(await bank.pay('2026-tasks'));
    await bank.nextRun();
    const answer = await bank.pay('2026-tasks', { meta: { [NEW_OPERATION]: true } });
    await bank.nextRun();
    expect(handleIn(answer)).not.toBe(first);
    expect(metaIn(answer)[DEDUPLICATED]).toBeUndefined();
    expect(bank.runs).toHaveLength(2);
  });

  test('an error of the tool is its answer, and comes again marked', async () => {
    const bank = await openBank();
    const first = bank.pay('2025-plain');
    const error = { code: 4711, message: 'account closed', data: { why: 'test' } };
    const outcome = { kind: 'error', error } as const;
    bank.kit.gate.end(await bank.nextRun(), { outcome, end: 'error', reason: 'error' });
    expect(errorOf(await first)).toEqual(error);
    const again = errorOf(await bank.pay('2026-plain'));
    expect(again).toMatchObject({ ...error, data: { why: 'test', [DEDUPLICATED]: true } });
    expect(bank.runs).toHaveLength(1);
  });

  test('reads, and tools that can be undone, are called as often as somebody calls them', async () => {
    for (const effect of ['read', 'reversible'] as const) {
      const bank = await openBank({ tools: [payTool({ effect })] });
      const ids = [await bank.pay('2026-tasks'), await bank.pay('2026-tasks')].map(handleIn);
      expect(new Set(ids).size).toBe(2);
    }
  });
});

/** A receiving side whose payments are made at once, under a clock that the test moves. */
async function openSide() {
  const clock = createManualClock();
  const side = await createReceivingSide({
    clock,
    run: async (job) => {
      await job.dispatched();
      return answered('paid');
    },
  });
  await side.open();
  const start = (but: Partial<Call> = {}) =>
    side.runtime.receiver.start({
      ...callOf(runtimePayTool, INVOICE),
      newOperation: false,
      ...but,
    });
  const startedId = async (but: Partial<Call> = {}): Promise<string> => {
    const started = await start(but);
    if (started.kind !== 'started') throw new Error(`not started: ${JSON.stringify(started)}`);
    await side.outcome(started.task);
    return started.task.id;
  };
  return { clock, side, start, startedId };
}

describe('how long a repeat is the same call', () => {
  test('until its result was delivered, and ten minutes', async () => {
    const { clock, side, startedId } = await openSide();
    const first = await startedId();
    clock.advance(WINDOW_MS * 2);
    expect(await startedId()).toBe(first);
    await side.runtime.receiver.delivered(first);
    clock.advance(WINDOW_MS - 1);
    expect(await startedId()).toBe(first);
    clock.advance(1);
    expect(await startedId()).not.toBe(first);
  });

  test('a tool may say another time, and none beyond delivery', async () => {
    const { clock, side, startedId } = await openSide();
    const tool = { ...runtimePayTool, repeatWindowMs: 0 };
    const first = await startedId({ tool });
    clock.advance(WINDOW_MS);
    expect(await startedId({ tool })).toBe(first);
    await side.runtime.receiver.delivered(first);
    expect(await startedId({ tool })).not.toBe(first);
  });

  test('for callers who cannot be told apart nothing is taken for a repeat that does not say so', async () => {
    const { startedId } = await openSide();
    const first = await startedId({ principal: ANYONE });
    expect(await startedId({ principal: ANYONE })).not.toBe(first);
  });

  test('somebody else’s call with the same arguments is theirs', async () => {
    const { startedId } = await openSide();
    expect(await startedId({ principal: BOB })).not.toBe(await startedId({ principal: ALICE }));
  });
});

describe('delivered is what provably reached its owner', () => {
  const deliveredAt = async (bank: Awaited<ReturnType<typeof openBank>>) => {
    const [operation] = await bank.kit.side.store.operations.list('system', { limit: 1 });
    return operation?.deliveredAt;
  };

  test('the plain answer, once it was written', async () => {
    const bank = await openBank();
    const first = bank.pay('2025-plain');
    bank.kit.gate.end(await bank.nextRun(), PAID);
    await first;
    await until(async () => (await deliveredAt(bank)) !== undefined);
  });

  test('tasks/result of 2025-11-25, not its status', async () => {
    const bank = await openBank();
    const alice = await caller2025(bank.url, 'alice');
    const created = await alice.tool('gated', INVOICE, { task: {} });
    const job = await bank.nextRun();
    bank.kit.gate.end(job, PAID);
    await bank.kit.side.outcome(job.task);
    const taskId = handleIn(created);
    await alice.call('tasks/get', { taskId });
    expect(await deliveredAt(bank)).toBeUndefined();
    await alice.call('tasks/result', { taskId });
    await until(async () => (await deliveredAt(bank)) !== undefined);
  });

  test('tasks/get of 2026-07-28 with the outcome in it', async () => {
    const bank = await openBank();
    const alice = caller2026(bank.url, 'alice');
    const taskId = handleIn(await bank.pay('2026-tasks'));
    await alice.call('tasks/get', { taskId });
    const job = await bank.nextRun();
    bank.kit.gate.end(job, PAID);
    await bank.kit.side.outcome(job.task);
    expect(await deliveredAt(bank)).toBeUndefined();
    await alice.call('tasks/get', { taskId });
    await until(async () => (await deliveredAt(bank)) !== undefined);
  });
});
