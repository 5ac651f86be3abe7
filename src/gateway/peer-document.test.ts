import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { loadDocument, storeDocument, type PeerDocument } from './peer-document.ts';

const endpoint = { kind: 'stdio', command: 'node', args: ['server.js'] } as const;

const document: PeerDocument = {
  protocolVersion: '2026-07-28',
  transport: 'stdio',
  verdict: { kind: 'modern', discover: { supportedVersions: ['2026-07-28'] } },
  serverInfo: { name: 'x' },
  instructions: 'Do.',
  capabilities: { tools: {} },
  tools: [{ name: 'a', 'com.example/x': 1 }],
};

describe('a stored manifest', () => {
  const stored = storeDocument(document, endpoint);

  test('comes back as it was', () => {
    const again = JSON.parse(JSON.stringify(stored)) as JsonObject;
    expect(loadDocument(again, endpoint)).toEqual(document);
  });

  test('says nothing about another endpoint: neither its arguments nor its environment are in it', () => {
    expect(loadDocument(stored, { ...endpoint, args: ['other.js'] })).toBeUndefined();
    expect(loadDocument(stored, { kind: 'http', url: 'http://localhost/mcp' })).toBeUndefined();
    expect(JSON.stringify(stored)).not.toContain('server.js');
  });

  test.each([
    [{ ...stored, version: 99 }],
    [{ ...stored, tools: 'none' }],
    [{ ...stored, verdict: {} }],
    [{ ...stored, transport: 'pigeon' }],
    [{}],
  ])('of another making is not believed (%#)', (odd) => {
    expect(loadDocument(odd, endpoint)).toBeUndefined();
  });
});
