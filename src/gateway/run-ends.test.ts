import { describe, expect, test } from 'vitest';
import { stateAfterCall } from '../ledger/operation.ts';
import type { EffectClass, Task } from '../protocol/model.ts';
import type { ToolCallEnd } from '../requestor/tool-call.ts';
import type { StopReason } from '../runtime/job.ts';
import type { ServedTool } from '../runtime/tool.ts';
import { runEndOf } from './run-ends.ts';

function endOf(
  ended: ToolCallEnd,
  { effect = 'consequential', stop }: { effect?: EffectClass; stop?: StopReason } = {},
) {
  const stopper = new AbortController();
  if (stop) stopper.abort(stop);
  const task = { effect, operationId: 'op_1' } as Task;
  const tool = { upstream: 'up', effect } as ServedTool;
  return runEndOf(ended, { task, tool, signal: stopper.signal });
}

const reasonOf = (run: ReturnType<typeof endOf>) =>
  run.outcome.kind === 'error'
    ? (run.outcome.error.data as { reason?: string }).reason
    : run.outcome.kind;

describe('the end of a run', () => {
  test('a result is the peer’s word, an error result proves nothing', () => {
    expect(endOf({ kind: 'result', result: { content: [] } }).end).toBe('answered');
    const failed = endOf({ kind: 'result', result: { isError: true } });
    expect(failed.end).toBe('tool_error');
    expect(stateAfterCall('dispatched', failed.end)).toBe('unknown');
  });

  test.each(['lost', 'task_lost'] as const)('%s: unknown for all but a read', (kind) => {
    expect(reasonOf(endOf({ kind, problem: 'gone' }))).toBe('outcome_unknown');
    expect(reasonOf(endOf({ kind, problem: 'gone' }, { effect: 'reversible' }))).toBe(
      'outcome_unknown',
    );
    expect(reasonOf(endOf({ kind, problem: 'gone' }, { effect: 'read' }))).toMatch(
      /^upstream_(task_)?lost$/,
    );
    expect(endOf({ kind, problem: 'gone' }).end).toBe('lost');
  });

  test.each([
    [{ kind: 'unsent', problem: 'refused' }, 'upstream_unreachable'],
    [{ kind: 'session_gone', problem: 'gone' }, 'upstream_session_gone'],
    [{ kind: 'http', status: 403, problem: 'HTTP 403' }, 'upstream_http_error'],
    [{ kind: 'http', status: 502, problem: 'HTTP 502' }, 'outcome_unknown'],
    [{ kind: 'invalid', problem: 'nonsense' }, 'upstream_invalid'],
    [{ kind: 'too_large', problem: 'large' }, 'result_too_large'],
  ] as const)('%j is %s', (ended, reason) => {
    expect(reasonOf(endOf(ended))).toBe(reason);
  });

  test('nothing that was made up on this side claims success', () => {
    const kinds = ['peer_cancelled', 'fenced', 'stopped'] as const;
    for (const kind of kinds) expect(endOf({ kind }).end).not.toBe('answered');
  });

  test.each([
    ['cancelled', 'cancelled', 'cancelled'],
    ['abandoned', 'cancelled', 'abandoned'],
    ['run_limit', 'run_limit', 'run_limit'],
    ['shutdown', 'lost', 'shutdown'],
    ['lease_lost', 'lost', 'lease_lost'],
  ] as const)('told to stop by %s', (stop, end, reason) => {
    expect(endOf({ kind: 'stopped' }, { stop })).toMatchObject({ end, reason });
    expect(endOf({ kind: 'fenced' }, { stop })).toMatchObject({ end, reason });
  });
});
