import { expect, test } from 'vitest';
import { readMessage } from './message.ts';

const read = (message: object) => readMessage({ jsonrpc: '2.0', ...message });

test('requests, notifications and responses are told apart', () => {
  expect(read({ id: 1, method: 'ping' })).toEqual({
    kind: 'request',
    id: 1,
    method: 'ping',
    params: {},
  });
  expect(read({ method: 'x', params: { a: 1 } })).toEqual({
    kind: 'notification',
    method: 'x',
    params: { a: 1 },
  });
  expect(read({ id: 'a', result: { b: 2 } })).toEqual({
    kind: 'response',
    id: 'a',
    answer: { kind: 'result', result: { b: 2 } },
  });
  expect(read({ id: 'a', error: { code: 1, message: 'no', data: [2] } })).toEqual({
    kind: 'response',
    id: 'a',
    answer: { kind: 'error', error: { code: 1, message: 'no', data: [2] } },
  });
});

test.each([
  [undefined],
  [null],
  ['text'],
  [[]],
  [{ jsonrpc: '1.0', id: 1, method: 'x' }],
  [{ jsonrpc: '2.0' }],
  [{ jsonrpc: '2.0', id: null, method: 'x' }],
  [{ jsonrpc: '2.0', id: {}, method: 'x' }],
  [{ jsonrpc: '2.0', id: 2 ** 60, method: 'x' }],
  [{ jsonrpc: '2.0', id: 1, method: 5 }],
  [{ jsonrpc: '2.0', id: 1, method: 'x', params: 'y' }],
  [{ jsonrpc: '2.0', id: 1, result: 5 }],
  [{ jsonrpc: '2.0', id: 1, error: { code: 'x', message: '' } }],
  [{ jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } }],
])('%j is no message', (value) => {
  expect(readMessage(value).kind).toBe('invalid');
});

test('an invalid message is answered under its id where that can be read', () => {
  expect(read({ id: 7, method: 'x', params: [] })).toMatchObject({ kind: 'invalid', id: 7 });
  expect(read({ id: 1.5, method: 'x' })).toMatchObject({ kind: 'invalid', id: null });
});
