import { describe, expect, test } from 'vitest';
import { objectAt, type JsonObject } from '../../src/kernel/json.ts';
import { keyOfCall, withoutKeyArgument } from '../../src/runtime/idempotency/call-key.ts';
import { listKeyArgument } from '../../src/runtime/idempotency/key-argument.ts';
import type { IdempotencyPolicy } from '../../src/runtime/tool.ts';
import { caller2026, errorOf, resultOf } from '../faces/wire.ts';
import { ALICE, payTool as runtimePayTool } from '../runtime/receiving-side.ts';
import { handleIn, INVOICE, KEY, openBank, payTool } from './callers.ts';

const withKey = (idempotency: IdempotencyPolicy, definition?: JsonObject) =>
  payTool({
    idempotency,
    ...listKeyArgument({
      idempotency,
      definition: definition ?? {
        name: 'gated',
        inputSchema: { type: 'object', properties: { invoice: { type: 'string' } } },
      },
    }),
  });

describe('a key argument', () => {
  const tool = withKey({ argument: 'request_id' });

  test('is added to the listed schema, and is not required', async () => {
    const { url } = await openBank({ tools: [tool] });
    const { tools } = resultOf(await caller2026(url, 'alice').call('tools/list'));
    const [listed] = tools as readonly JsonObject[];
    const schema = objectAt(listed, 'inputSchema');
    expect(objectAt(schema, 'properties')).toMatchObject({
      invoice: { type: 'string' },
      request_id: { type: 'string', maxLength: 128 },
    });
    expect(schema?.['required']).toBeUndefined();
  });

  test('names the call, and is taken off before the tool sees it', async () => {
    const bank = await openBank({ tools: [tool] });
    const args = { ...INVOICE, request_id: 'r-1' };
    const first = handleIn(await bank.pay('2026-tasks', { args }));
    const { request } = await bank.nextRun();
    expect(request.arguments).toEqual(INVOICE);
    expect(handleIn(await bank.pay('2025-task', { args }))).toBe(first);
    // The same key in _meta is the same key.
    const meta = { [KEY]: 'r-1' };
    expect(handleIn(await bank.pay('2026-tasks', { meta }))).toBe(first);
  });

  test('two different keys at once are a mistake, and nothing runs', async () => {
    const bank = await openBank({ tools: [tool] });
    const args = { ...INVOICE, request_id: 'r-1' };
    const error = errorOf(await bank.pay('2026-tasks', { args, meta: { [KEY]: 'r-2' } }));
    expect(error['message']).toContain('two different idempotency keys');
  });

  test('that is no text is refused', async () => {
    const bank = await openBank({ tools: [tool] });
    const error = errorOf(await bank.pay('2026-tasks', { args: { request_id: 7 } }));
    expect(error).toMatchObject({ code: -32_602, data: { reason: 'idempotency_key' } });
  });

  test('that the tool has itself stays its own: read, and passed on', async () => {
    const inputSchema = { type: 'object', properties: { request_id: { type: 'string' } } };
    const own = withKey({ argument: 'request_id' }, { name: 'gated', inputSchema });
    expect(own.definition['inputSchema']).toEqual(inputSchema);
    const args = { request_id: 'r-1' };
    expect(withoutKeyArgument(own, args)).toEqual(args);
    const bank = await openBank({ tools: [own] });
    const first = handleIn(await bank.pay('2026-tasks', { args }));
    expect(handleIn(await bank.pay('2026-tasks', { args }))).toBe(first);
  });
});

describe('a key from arguments', () => {
  const tool = withKey({ from: ['invoice'] });

  test('is what the operator says the call is about: a model’s fresh key does not get past it [D5]', async () => {
    const bank = await openBank({ tools: [tool] });
    const first = handleIn(await bank.pay('2026-tasks', { meta: { [KEY]: 'try-1' } }));
    await bank.nextRun();
    expect(handleIn(await bank.pay('2026-tasks', { meta: { [KEY]: 'try-2' } }))).toBe(first);
    const changed = { ...INVOICE, amount: { value: 11, currency: 'EUR' } };
    const error = errorOf(await bank.pay('2026-tasks', { args: changed }));
    expect(error).toMatchObject({ data: { reason: 'idempotency_conflict' } });
  });

  test('is none where one of them is missing; then the caller’s own counts', () => {
    const call = { principal: ALICE, tool, arguments: { other: 1 } };
    expect(keyOfCall(call)).toEqual({ kind: 'none' });
    expect(keyOfCall({ ...call, idempotencyKey: 'mine' })).toEqual({
      kind: 'key',
      key: { source: 'caller', value: 'mine' },
    });
  });

  test('never meets a key that a caller chose', () => {
    const derived = keyOfCall({ principal: ALICE, tool, arguments: { invoice: 'x' } });
    const chosen = keyOfCall({
      principal: ALICE,
      tool: runtimePayTool,
      arguments: {},
      idempotencyKey: 'x',
    });
    expect([derived, chosen].map((found) => found.kind === 'key' && found.key.source)).toEqual([
      'derived',
      'caller',
    ]);
  });
});

describe('a key by the tool’s own rule', () => {
  const keyed = (derive: NonNullable<IdempotencyPolicy['derive']>) =>
    keyOfCall({
      principal: ALICE,
      tool: { ...runtimePayTool, idempotency: { derive } },
      arguments: { order: 7 },
    });

  test('is made of the arguments', () => {
    expect(keyed(({ order }) => `order-${String(order)}`)).toMatchObject({
      key: { source: 'derived', value: ['made', 'order-7'] },
    });
    expect(keyed(() => undefined)).toEqual({ kind: 'none' });
  });

  test('that fails, or makes no text, refuses the call', () => {
    const broken = (): string => {
      throw new Error('no order');
    };
    expect(keyed(broken)).toMatchObject({ kind: 'bad', problem: /no order/ });
    expect(keyed(() => '')).toMatchObject({ kind: 'bad' });
    expect(keyed((() => 7) as unknown as () => string)).toMatchObject({ kind: 'bad' });
  });
});
