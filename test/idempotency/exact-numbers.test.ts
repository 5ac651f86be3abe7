import { describe, expect, test } from 'vitest';
import { inexactIntegerIn } from '../../src/runtime/idempotency/exact-numbers.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { tool } from '../faces/face-kit.ts';
import {
  CAPABILITIES_META,
  errorOf,
  post,
  resultOf,
  VERSION_META,
  WITH_ALL,
} from '../faces/wire.ts';
import { KEY, openBank, payTool } from './callers.ts';

/** Two account numbers that reading JSON makes equal. */
const ACCOUNTS = ['9007199254740993', '9007199254740992'] as const;

const ENVELOPE = { [VERSION_META]: '2026-07-28', [CAPABILITIES_META]: WITH_ALL };

/** A call as text, so that the number is on the wire as it is meant. */
const textOf = (name: string, account: string, meta: JsonObject = {}): string =>
  `{"jsonrpc":"2.0","id":"n-1","method":"tools/call","params":{"name":"${name}",` +
  `"arguments":{"to":{"account":${account}}},"_meta":${JSON.stringify({ ...ENVELOPE, ...meta })}}}`;

const TOOLS = [payTool(), tool('echo')];

async function overHttp(name: string, account: string, meta?: JsonObject): Promise<JsonObject> {
  const { url } = await openBank({ tools: TOOLS });
  const headers = {
    authorization: 'Bearer alice',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  return (await post(url, textOf(name, account, meta), { headers })).body;
}

async function overStdio(name: string, account: string, meta?: JsonObject): Promise<JsonObject> {
  const side = (await openBank({ tools: TOOLS })).kit.stdio();
  side.send(textOf(name, account, meta));
  return side.next((message) => message['id'] === 'n-1');
}

describe.each([
  ['HTTP', overHttp],
  ['stdio', overStdio],
])('over %s', (_transport, call) => {
  test.each(ACCOUNTS)(
    'an effect on account %s is refused, and says what to send instead',
    async (account) => {
      const error = errorOf(await call('gated', account));
      expect(error).toMatchObject({ code: -32_602, data: { reason: 'arguments_inexact' } });
      expect(error['message']).toContain('to.account');
      expect(error['message']).toContain('send it as a string');
    },
  );

  test('a read under a key is refused too: it could be taken for another', async () => {
    const error = errorOf(await call('echo', ACCOUNTS[0], { [KEY]: 'k-1' }));
    expect(error).toMatchObject({ data: { reason: 'arguments_inexact' } });
  });

  test('the largest integer that is exact, and a fraction, are taken', async () => {
    for (const number of ['9007199254740991', '-9007199254740991', '0.1'])
      expect(resultOf(await call('gated', number))['taskId']).toBeDefined();
  });

  test('a read without a key is as it was', async () => {
    expect(resultOf(await call('echo', ACCOUNTS[0]))['taskId']).toBeDefined();
  });
});

test('the first place is named, however deep', () => {
  expect(inexactIntegerIn({ a: [1, { b: 2 ** 53 }], c: 2 ** 60 })).toBe('a[1].b');
  expect(inexactIntegerIn({ a: -(2 ** 53) })).toBe('a');
  expect(inexactIntegerIn({ a: 2 ** 53 - 1, b: '9007199254740993', c: null })).toBeUndefined();
});
