import { describe, expect, test } from 'vitest';
import { readMessage } from './rpc-message.ts';

describe('a message from a peer', () => {
  test('keeps what no schema knows', () => {
    const result = { content: [{ type: 'com.example/new', x: 1 }], extra: { deep: [1] } };
    expect(readMessage({ jsonrpc: '2.0', id: 'a', result, hop: 1 })).toEqual({
      kind: 'result',
      id: 'a',
      result,
    });
    expect(readMessage({ id: 1, error: { code: -1, message: 'no', data: { why: [1] } } })).toEqual({
      kind: 'error',
      id: 1,
      error: { code: -1, message: 'no', data: { why: [1] } },
    });
  });

  test('is a request or a notification by its id', () => {
    expect(readMessage({ id: 0, method: 'ping' })).toEqual({
      kind: 'request',
      id: 0,
      method: 'ping',
      params: {},
    });
    expect(readMessage({ method: 'x', params: { a: 1 } })).toEqual({
      kind: 'notification',
      method: 'x',
      params: { a: 1 },
    });
  });

  test('an error may have no message and no id, but must have a code', () => {
    expect(readMessage({ id: null, error: { code: 5 } })).toEqual({
      kind: 'error',
      id: undefined,
      error: { code: 5, message: '' },
    });
    expect(readMessage({ id: 'a', error: {} })).toMatchObject({ kind: 'invalid', id: 'a' });
  });

  test.each([
    null,
    7,
    'text',
    [],
    { id: 'a' },
    { id: 'a', result: null },
    { id: 'a', result: [] },
    { result: {} },
  ])('%j makes no sense', (value) => {
    expect(readMessage(value).kind).toBe('invalid');
  });

  test('that nests too deep to be written again is invalid; only an answer names a request of ours', () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    const problem = 'it nests deeper than 256 levels';
    expect(readMessage({ id: 'a', result: { deep } })).toEqual({
      kind: 'invalid',
      id: 'a',
      problem,
    });
    const call = { method: 'notifications/message', params: { data: deep } };
    expect(readMessage(call)).toEqual({ kind: 'invalid', id: undefined, problem });
    expect(readMessage({ ...call, id: 'a' })).toEqual({ kind: 'invalid', id: undefined, problem });
  });
});
