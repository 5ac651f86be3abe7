import { describe, expect, test } from 'vitest';
import { capabilitiesFor, passingMeta } from './envelope.ts';
import { passingResult } from './passing-result.ts';

describe('_meta on its way (decision 17)', () => {
  test('what the protocol reserves stays at its hop, all else passes', () => {
    const meta = {
      progressToken: 1,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/related-task': { taskId: 't' },
      'com.mcp.tools/x': 1,
      'dev.longcall/idempotencyKey': 'k',
      'com.example/trace': { id: 7 },
      traceparent: '00-1-2-01',
    };
    expect(passingMeta(meta)).toEqual({
      'dev.longcall/idempotencyKey': 'k',
      'com.example/trace': { id: 7 },
      traceparent: '00-1-2-01',
    });
  });

  test('a result loses its hop’s members and nothing else', () => {
    const hop = { 'io.modelcontextprotocol/serverInfo': { name: 'x' } };
    expect(passingResult({ resultType: 'complete', _meta: hop, content: [], x: 1 })).toEqual({
      content: [],
      x: 1,
    });
    expect(passingResult({ _meta: { ...hop, a: 1 } })).toEqual({ _meta: { a: 1 } });
    expect(passingResult({ _meta: {} })).toEqual({ _meta: {} });
    expect(passingResult({ resultType: 'com.example/other' })).toEqual({
      resultType: 'com.example/other',
    });
  });
});

test('a request declares exactly what its caller can be asked', () => {
  expect(capabilitiesFor([], { tasks: false })).toEqual({});
  expect(capabilitiesFor(['elicitation-form', 'roots'], { tasks: false })).toEqual({
    elicitation: { form: {} },
    roots: {},
  });
  expect(capabilitiesFor(['elicitation-url', 'sampling'], { tasks: true })).toEqual({
    elicitation: { url: {} },
    sampling: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  });
});
