import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEnvelopeScanner, sameId, type Envelope } from './envelope-scanner.ts';

function scan(text: string, size = 7): readonly Envelope[] {
  const found: Envelope[] = [];
  const scanner = createEnvelopeScanner((envelope) => found.push(envelope));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size));
  return found;
}

const line = (message: unknown): string => `${JSON.stringify(message)}\n`;

describe('what a front knows of a message that it passes on', () => {
  test('requests, notifications and answers, with ids of both kinds', () => {
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { id: 9, method: 'x' } },
      { jsonrpc: '2.0', id: 'a"b', result: { id: 7 } },
      { method: 'notifications/initialized' },
      { id: null, error: { code: 1, message: 'no "id": 5' } },
    ];
    expect(scan(messages.map(line).join(''))).toEqual([
      { id: '1', method: 'tools/call' },
      { id: '"a\\"b"' },
      { method: 'notifications/initialized' },
    ]);
  });

  test('whose request a cancel is about, and that of no other message', () => {
    const params = { reason: 'x', requestId: 'r1', deep: { requestId: 'r2' } };
    expect(scan(line({ method: 'notifications/cancelled', params }))).toEqual([
      { method: 'notifications/cancelled', cancels: '"r1"' },
    ]);
    expect(scan(line({ id: 1, method: 'tools/call', params }))).toEqual([
      { id: '1', method: 'tools/call' },
    ]);
  });

  test('each message of a batch', () => {
    const batch = [{ id: 1, method: 'ping' }, { id: 2, result: [1, { id: 3 }] }, { method: 'n' }];
    expect(scan(line(batch))).toEqual([{ id: '1', method: 'ping' }, { id: '2' }, { method: 'n' }]);
  });

  test('a line that is no JSON spoils no other', () => {
    expect(scan(`{"id": 1, "method": "un\n]]}}{ nonsense\n${line({ id: 2, result: {} })}`)).toEqual(
      [{ id: '2' }],
    );
  });

  test('any message, cut anywhere and written with any white space', () => {
    const id = fc.oneof(fc.integer(), fc.string());
    const message = fc.record({ id, method: fc.string(), params: fc.jsonValue() });
    fc.assert(
      fc.property(message, fc.integer({ min: 1, max: 9 }), fc.boolean(), (said, size, spaced) => {
        const text = spaced ? JSON.stringify(said, null, '\t').replaceAll('\n', ' ') : line(said);
        const [found, ...others] = scan(`${text}\n`, size);
        expect(others).toEqual([]);
        expect(found?.method).toBe(said.method);
        expect(sameId(found?.id ?? '')).toBe(JSON.stringify(said.id));
      }),
    );
  });
});
