import { describe, expect, test } from 'vitest';
import type { ToolRule, UpstreamConfig } from './config.ts';
import { policyOf } from './policy.ts';

const DEFAULTS = {
  syncWindowMs: 2000,
  plainLimitMs: 60_000,
  runLimitMs: 3_600_000,
  inputAllowanceMs: 86_400_000,
  inputExpiryMs: 3_600_000,
  retentionMs: 86_400_000,
  pollIntervalMs: 1000,
  concurrency: 16,
};

function upstream(tools: Record<string, ToolRule> = {}, trustAnnotations = false): UpstreamConfig {
  return {
    name: 'reports',
    endpoint: { kind: 'stdio', command: 'node', args: [], env: {}, cwd: '.' },
    prefix: '',
    trustAnnotations,
    connections: 'auto',
    connectionsMax: 1,
    tools,
    toolDefaults: DEFAULTS,
  };
}

const READ_ONLY = { annotations: { readOnlyHint: true } };

describe('mode and effect, and why', () => {
  test('what nobody says is task-optional and consequential', () => {
    expect(policyOf(upstream(), 'export')).toEqual({
      ...DEFAULTS,
      mode: 'task-optional',
      effect: 'consequential',
      why: 'mode: default; effect: default',
    });
  });

  test('the rule for * holds for every tool, the rule for the exact name goes before it, key by key', () => {
    const rules = upstream({
      '*': { mode: 'sync', effect: 'reversible', concurrency: 2, runLimitMs: 5 },
      export: { effect: 'read', concurrency: 9 },
    });
    expect(policyOf(rules, 'other')).toMatchObject({
      mode: 'sync',
      effect: 'reversible',
      concurrency: 2,
      why: 'mode: policy for *; effect: policy for *',
    });
    expect(policyOf(rules, 'export')).toMatchObject({
      mode: 'sync',
      effect: 'read',
      concurrency: 9,
      runLimitMs: 5,
      why: 'mode: policy for *; effect: policy',
    });
  });

  test('names of tools are names and no patterns or members of objects', () => {
    const rules = upstream({ 'export*': { mode: 'refuse' } });
    expect(policyOf(rules, 'export_report').mode).toBe('task-optional');
    expect(policyOf(rules, 'constructor').mode).toBe('task-optional');
    expect(policyOf(rules, '__proto__').effect).toBe('consequential');
  });
});

describe('annotations of an upstream', () => {
  test('are a claim that does not count by itself, and that is said', () => {
    expect(policyOf(upstream(), 'x', READ_ONLY)).toMatchObject({
      effect: 'consequential',
      why: 'mode: default; effect: default, its readOnlyHint is not trusted',
    });
  });

  test('where they are trusted, readOnlyHint makes a read and nothing else makes anything less than consequential', () => {
    const trusting = upstream({}, true);
    expect(policyOf(trusting, 'x', READ_ONLY)).toMatchObject({
      effect: 'read',
      why: 'mode: default; effect: its readOnlyHint, trusted',
    });
    for (const annotations of [
      {},
      { readOnlyHint: false },
      { readOnlyHint: 'true' },
      { destructiveHint: false, idempotentHint: true },
      undefined,
    ])
      expect(policyOf(trusting, 'x', { annotations })).toMatchObject({ effect: 'consequential' });
  });

  test('policy goes before them, for * too', () => {
    expect(
      policyOf(upstream({ '*': { effect: 'consequential' } }, true), 'x', READ_ONLY).effect,
    ).toBe('consequential');
    expect(policyOf(upstream({ x: { effect: 'read' } }, true), 'x', {}).effect).toBe('read');
  });
});

describe('passthrough', () => {
  const passing = upstream({ '*': { mode: 'passthrough' } }, true);

  test('is served for reads', () => {
    expect(policyOf(passing, 'x', READ_ONLY)).toMatchObject({
      mode: 'passthrough',
      effect: 'read',
    });
  });

  test('is refused for a tool that turns out to be no read', () => {
    expect(policyOf(passing, 'x', {})).toMatchObject({
      mode: 'refuse',
      why: expect.stringContaining('no read'),
    });
  });

  test('becomes sync where the upstream insists on a task, which a plain call could not give it', () => {
    expect(policyOf(passing, 'x', { ...READ_ONLY, taskSupport: 'required' })).toMatchObject({
      mode: 'sync',
      why: expect.stringContaining('insists'),
    });
    expect(policyOf(passing, 'x', { ...READ_ONLY, taskSupport: 'optional' }).mode).toBe(
      'passthrough',
    );
  });
});

test('a question never stays open longer than all questions together may', () => {
  expect(policyOf(upstream({ x: { inputAllowanceMs: 1000 } }), 'x').inputExpiryMs).toBe(1000);
});
