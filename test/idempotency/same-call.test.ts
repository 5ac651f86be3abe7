import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { caller2026, errorOf, resultOf, textOf } from '../faces/wire.ts';
import { ALICE, settleDown, until } from '../runtime/receiving-side.ts';
import {
  CALLER_KINDS,
  DEDUPLICATED,
  handleIn,
  INVOICE,
  KEY,
  metaIn,
  openBank,
  OPERATION_ID,
  PAID,
  payTool,
} from './callers.ts';

const KEYED: JsonObject = { [KEY]: 'k-1' };
const isHandle = (kind: string): boolean => kind === '2025-task' || kind === '2026-tasks';

describe('a client sends tools/call again after it lost the answer', () => {
  test.each(CALLER_KINDS)(
    'a repeat by a %s caller gets the same call in its own shape, and one effect happens [D2, D4]',
    async (kind) => {
      const bank = await openBank();
      const taskId = handleIn(await bank.pay('2026-tasks', { meta: KEYED }));
      const run = await bank.nextRun();
      const repeat = bank.pay(kind, { meta: KEYED });
      if (!isHandle(kind)) bank.kit.gate.end(run, PAID);
      const answer = await repeat;
      if (isHandle(kind)) expect(handleIn(answer)).toBe(taskId);
      else expect(textOf(resultOf(answer))).toContain('paid');
      expect(metaIn(answer)).toMatchObject({
        [DEDUPLICATED]: true,
        [OPERATION_ID]: run.task.operationId,
      });
      await settleDown();
      expect(bank.runs).toHaveLength(1);
      expect(await bank.kit.side.store.attempts.queuedCount()).toBe(0);
    },
  );

  test.each(CALLER_KINDS)(
    'a repeat by a %s caller after the end gets what the first call came to [D2, D7]',
    async (kind) => {
      const bank = await openBank();
      const first = bank.pay('2025-plain', { meta: KEYED });
      bank.kit.gate.end(await bank.nextRun(), PAID);
      expect(metaIn(await first)[DEDUPLICATED]).toBeUndefined();
      const answer = await bank.pay(kind, { meta: KEYED });
      expect(metaIn(answer)).toMatchObject({ [DEDUPLICATED]: true });
      // An augmented call of 2025-11-25 gets a handle whatever there is; all others have the outcome at once.
      if (kind === '2025-task') expect(handleIn(answer)).toBe(bank.runs[0]?.task.id);
      else expect(textOf(resultOf(answer))).toContain('paid');
      expect(bank.runs).toHaveLength(1);
    },
  );

  test('the handle that a repeat of a plain call took can be read, and is in the list', async () => {
    const bank = await openBank();
    const first = bank.pay('2025-plain', { meta: KEYED });
    bank.kit.gate.end(await bank.nextRun(), PAID);
    await first;
    const taskId = handleIn(await bank.pay('2025-task', { meta: KEYED }));
    await until(async () => {
      const listed = await bank.kit.side.runtime.receiver.list(ALICE, undefined);
      return listed.kind === 'page' && listed.page.tasks.some(({ id }) => id === taskId);
    });
  });

  test('an honest retry is not a mismatch: other id, other progress token, other order of members [D3]', async () => {
    const bank = await openBank();
    const taskId = handleIn(
      await bank.pay('2026-tasks', { meta: { ...KEYED, progressToken: 'a', 'com.example/t': 1 } }),
    );
    await bank.nextRun();
    const args = { amount: { currency: 'EUR', value: 10 }, invoice: 'i-1' };
    const meta = { ...KEYED, progressToken: 'b', 'com.example/t': 2 };
    expect(handleIn(await bank.pay('2025-task', { args, meta }))).toBe(taskId);
    expect(await bank.kit.side.store.attempts.queuedCount()).toBe(0);
  });

  test.each(CALLER_KINDS)(
    'the same key with other arguments is refused for a %s caller, and nothing runs [D2]',
    async (kind) => {
      const bank = await openBank();
      await bank.pay('2026-tasks', { meta: KEYED });
      const run = await bank.nextRun();
      const args = { ...INVOICE, invoice: 'i-2' };
      const error = errorOf(await bank.pay(kind, { args, meta: KEYED }));
      expect(error).toMatchObject({
        code: 1409,
        data: {
          reason: 'idempotency_conflict',
          code: 'LONGCALL_IDEMPOTENCY_CONFLICT',
          operationId: run.task.operationId,
        },
      });
      expect(error['message']).toContain('other arguments');
      expect(await bank.kit.side.store.attempts.queuedCount()).toBe(0);
    },
  );

  test('the same key of somebody else, or for another tool, is another call [D2]', async () => {
    const other = payTool({ name: 'gated__refund', upstreamName: 'refund' });
    const bank = await openBank({ tools: [payTool(), other] });
    const ids = [
      handleIn(await bank.pay('2026-tasks', { meta: KEYED })),
      handleIn(await bank.pay('2026-tasks', { meta: KEYED, token: 'bob' })),
      handleIn(await bank.pay('2026-tasks', { meta: KEYED, token: 'carol' })),
      handleIn(await bank.pay('2026-tasks', { meta: KEYED, tool: 'gated__refund' })),
    ];
    expect(new Set(ids).size).toBe(4);
  });

  test('the key is ours and goes no further; what is not ours passes', async () => {
    const bank = await openBank();
    const meta = { ...KEYED, 'dev.longcall/newOperation': false, 'com.example/trace': 't' };
    await bank.pay('2026-tasks', { meta });
    const { request } = await bank.nextRun();
    expect(request.meta).toEqual({ 'com.example/trace': 't' });
  });

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['no text', 7],
  ])('a key that is %s is refused, and nothing runs', async (_what, key) => {
    const bank = await openBank();
    for (const kind of CALLER_KINDS) {
      const error = errorOf(await bank.pay(kind, { meta: { [KEY]: key } }));
      expect(error).toMatchObject({ code: -32_602, data: { reason: 'idempotency_key' } });
    }
    expect(await bank.kit.side.store.tasks.counts()).toMatchObject({ working: 0 });
  });
});

describe('callers of one call do not end it for each other', () => {
  test('the first one goes away, and the one that repeated the call gets its answer [D1, L3]', async () => {
    const bank = await openBank();
    const left = new AbortController();
    const first = caller2026(bank.url, 'alice', {}).open(
      'tools/call',
      { name: 'gated', arguments: INVOICE },
      { meta: KEYED, signal: left.signal },
    );
    const job = await bank.kit.gate.next(); // nothing is sent yet
    const repeat = bank.pay('2026-plain', { meta: KEYED });
    await until(() => bank.kit.side.runtime.repeats.counts().length === 1);
    left.abort();
    await expect(first).rejects.toThrow('aborted');
    await until(() => bank.kit.calls.some((call) => call.startsWith('abandon')));
    expect(job.signal.aborted).toBe(false);
    await job.dispatched();
    bank.kit.gate.end(job, PAID);
    expect(textOf(resultOf(await repeat))).toContain('paid');
  });

  test('one meets its limit, and the other one’s work goes on', async () => {
    const bank = await openBank({ tools: [payTool({ plainLimitMs: 300 })] });
    const handle = handleIn(await bank.pay('2026-tasks', { meta: KEYED }));
    const job = await bank.nextRun();
    const limited = await bank.pay('2025-plain', { meta: KEYED });
    expect(errorOf(limited)).toMatchObject({ data: { reason: 'plain_limit' } });
    expect(errorOf(limited)['message']).toContain('goes on');
    expect(job.signal.aborted).toBe(false);
    bank.kit.gate.end(job, PAID);
    expect((await bank.kit.side.outcome(job.task)).kind).toBe('result');
    expect(handle).toBe(job.task.id);
  });
});

describe('the job is orphaned because the client gave up before it had the id', () => {
  test('the same call again gives the handle that was lost [L3]', async () => {
    const bank = await openBank({ tools: [payTool({ syncWindowMs: 20_000 })] });
    const left = new AbortController();
    const first = caller2026(bank.url, 'alice').open(
      'tools/call',
      { name: 'gated', arguments: INVOICE },
      { meta: KEYED, signal: left.signal },
    );
    const job = await bank.nextRun();
    left.abort();
    await expect(first).rejects.toThrow('aborted');
    await until(() => bank.kit.calls.some((call) => call.startsWith('abandon')));
    const answer = await bank.pay('2025-task', { meta: KEYED });
    expect(handleIn(answer)).toBe(job.task.id);
    expect(metaIn(answer)).toMatchObject({ [DEDUPLICATED]: true });
    bank.kit.gate.end(job, PAID);
    expect((await bank.kit.side.outcome(job.task)).kind).toBe('result');
  });
});
