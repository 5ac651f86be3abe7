import { describe, expect, test } from 'vitest';
import type { ServedTool } from '../runtime/tool.ts';
import type { UpstreamOptions } from './options.ts';
import type { PeerDocument } from './peer-document.ts';
import { joinTools } from './served-tools.ts';
import { toolOfTask, type Lister } from './tool-of-task.ts';

const NUMBERS = {
  syncWindowMs: 1,
  plainLimitMs: 1,
  runLimitMs: 1,
  inputAllowanceMs: 1,
  inputExpiryMs: 1,
  retentionMs: 1,
  pollIntervalMs: 1,
  concurrency: 1,
};

const tool = (upstream: string): ServedTool => ({
  ...NUMBERS,
  name: 'deploy',
  upstream,
  upstreamName: 'deploy',
  mode: 'task-optional',
  effect: 'consequential',
  why: 'default',
  definition: { name: 'deploy' },
});

const KNOWN: PeerDocument = {
  protocolVersion: '2025-11-25',
  transport: 'stdio',
  verdict: { kind: 'legacy' },
  serverInfo: {},
  capabilities: {},
  tools: [],
};

/** One whose policy believes annotations. */
function lister(name: string, document?: PeerDocument, prefix = ''): Lister {
  const policyOf: UpstreamOptions['policyOf'] = (_tool, annotations) => ({
    ...NUMBERS,
    mode: 'task-optional',
    effect: annotations?.['readOnlyHint'] === true ? 'read' : 'consequential',
    why: 'annotations',
  });
  const endpoint = { kind: 'stdio', command: 'x', args: [] } as const;
  const options = { name, endpoint, connections: 'auto', connectionsMax: 8, prefix } as const;
  return { options: { ...options, policyOf }, document: () => document };
}

const taskOf = (upstream: string) => ({ tool: 'deploy', upstream, effect: 'read' }) as const;

describe('the tool of a task', () => {
  const both = joinTools([[tool('production')], [tool('staging')]]);

  test('is its own upstream’s, whoever has the name by now', () => {
    const upstreams = [lister('production', KNOWN), lister('staging', KNOWN)];
    expect(toolOfTask(taskOf('production'), both, upstreams)?.upstream).toBe('production');
    expect(toolOfTask(taskOf('staging'), both, upstreams)?.upstream).toBe('staging');
  });

  test('is gone with its upstream, and where its upstream does not list it', () => {
    const production = joinTools([[tool('production')]]);
    const upstreams = [lister('production', KNOWN), lister('staging', KNOWN)];
    expect(toolOfTask(taskOf('staging'), production, upstreams)).toBeUndefined();
    expect(toolOfTask(taskOf('removed'), production, upstreams)).toBeUndefined();
  });

  test('is presumed while its upstream was not reached, under the policy of now', () => {
    const nothing = joinTools([]);
    const presumed = toolOfTask(taskOf('staging'), nothing, [lister('staging')]);
    expect(presumed).toMatchObject({ name: 'deploy', upstream: 'staging', effect: 'read' });
    const written = { ...taskOf('staging'), effect: 'consequential' } as const;
    expect(toolOfTask(written, nothing, [lister('staging')])?.effect).toBe('consequential');
  });

  test('is presumed by the upstream’s own name, and gone where the prefix is another', () => {
    const presumed = toolOfTask(taskOf('up'), joinTools([]), [lister('up', undefined, 'de')]);
    expect(presumed?.upstreamName).toBe('ploy');
    expect(
      toolOfTask(taskOf('up'), joinTools([]), [lister('up', undefined, 'x_')]),
    ).toBeUndefined();
  });
});
