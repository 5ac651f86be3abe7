import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import type { ToolPolicy, UpstreamOptions } from './options.ts';
import type { PeerDocument } from './peer-document.ts';
import { joinTools, serveTools } from './served-tools.ts';

const POLICY: ToolPolicy = {
  mode: 'task-optional',
  effect: 'consequential',
  why: 'default',
  syncWindowMs: 1,
  plainLimitMs: 1,
  runLimitMs: 1,
  inputAllowanceMs: 1,
  inputExpiryMs: 1,
  retentionMs: 1,
  pollIntervalMs: 1,
  concurrency: 1,
};

const document = (tools: readonly JsonObject[], capabilities: JsonObject = {}): PeerDocument => ({
  protocolVersion: '2025-11-25',
  transport: 'stdio',
  verdict: { kind: 'legacy' },
  serverInfo: {},
  capabilities,
  tools,
});

function options(but: Partial<UpstreamOptions> = {}): UpstreamOptions {
  const endpoint = { kind: 'stdio', command: 'x', args: [] } as const;
  return {
    name: 'up',
    endpoint,
    connections: 'auto',
    connectionsMax: 8,
    prefix: '',
    policyOf: () => POLICY,
    ...but,
  };
}

const TASKS = { tasks: { requests: { tools: { call: {} } } } };

describe('served tools', () => {
  test('are the upstream’s definitions under our name, less its own task support', () => {
    const definition = {
      name: 'a',
      'com.example/x': 1,
      execution: { taskSupport: 'required', other: 2 },
    };
    const [tool] = serveTools(options({ prefix: 'p_' }), document([definition]));
    expect(tool).toMatchObject({
      name: 'p_a',
      upstream: 'up',
      upstreamName: 'a',
      mode: 'task-optional',
    });
    expect(tool?.definition).toEqual({ name: 'p_a', 'com.example/x': 1, execution: { other: 2 } });
  });

  test('a key argument is listed beside the tool’s own, and one of the tool’s own stays as it is', () => {
    const inputSchema = { type: 'object', properties: { a: {} }, required: ['a'] };
    const listed = (argument: string) => {
      const policyOf = () => ({ ...POLICY, idempotency: { argument } });
      return serveTools(options({ policyOf }), document([{ name: 'x', inputSchema }]))[0];
    };
    expect(listed('key')?.definition['inputSchema']).toMatchObject({
      properties: { a: {}, key: { type: 'string' } },
      required: ['a'],
    });
    expect(listed('a')).toMatchObject({
      definition: { inputSchema },
      idempotency: { argument: 'a', keepArgument: true },
    });
  });

  test('policy hears annotations, and task support where the upstream has tasks at all', () => {
    const heard: unknown[] = [];
    const policyOf: UpstreamOptions['policyOf'] = (name, annotations, support) => {
      heard.push([name, annotations, support]);
      return POLICY;
    };
    const tools = [
      { name: 'a', annotations: { readOnlyHint: true }, execution: { taskSupport: 'optional' } },
      { name: 'b' },
    ];
    serveTools(options({ policyOf }), document(tools, TASKS));
    serveTools(options({ policyOf }), document(tools));
    expect(heard).toEqual([
      ['a', { readOnlyHint: true }, 'optional'],
      ['b', undefined, 'forbidden'],
      ['a', { readOnlyHint: true }, undefined],
      ['b', undefined, undefined],
    ]);
  });

  test('a name that comes twice belongs to the first upstream', () => {
    const first = serveTools(options({ name: 'first' }), document([{ name: 'a' }]));
    const second = serveTools(
      options({ name: 'second' }),
      document([{ name: 'a' }, { name: 'b' }]),
    );
    const { served, hidden, byName } = joinTools([first, second]);
    expect(served.map(({ name, upstream }) => [name, upstream])).toEqual([
      ['a', 'first'],
      ['b', 'second'],
    ]);
    expect(hidden.map(({ upstream }) => upstream)).toEqual(['second']);
    expect(byName.get('a')?.upstream).toBe('first');
  });

  test('have no name of ours: it is hidden, and a prefix makes it another one', () => {
    const tools = document([{ name: 'longcall_wait' }, { name: 'a' }]);
    const reserved = ['longcall_wait'];
    const { served, hidden } = joinTools([serveTools(options(), tools)], reserved);
    expect(served.map(({ name }) => name)).toEqual(['a']);
    expect(hidden.map(({ name }) => name)).toEqual(['longcall_wait']);
    const prefixed = joinTools([serveTools(options({ prefix: 'p_' }), tools)], reserved);
    expect(prefixed.served.map(({ name }) => name)).toEqual(['p_longcall_wait', 'p_a']);
  });
});
