import { describe, expect, test } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import { readCallAnswer } from './call-answer.ts';

const content = [{ type: 'text', text: 'x' }];

describe('an answer to tools/call', () => {
  test('of 2025-11-25 is a task only where one was asked for', () => {
    const answer = { task: { taskId: 't', status: 'working', pollInterval: 200 } };
    expect(readCallAnswer(answer, '2025-11-25', true)).toEqual({
      kind: 'task',
      task: { generation: '2025-11-25', taskId: 't', pollIntervalMs: 200 },
    });
    expect(readCallAnswer(answer, '2025-11-25', false).kind).toBe('invalid');
    expect(readCallAnswer({ ...answer, content }, '2025-11-25', true).kind).toBe('complete');
    expect(readCallAnswer({ task: {} }, '2025-11-25', true).kind).toBe('invalid');
  });

  test('of 2026-07-28 says what it is', () => {
    const read = (answer: object) => readCallAnswer({ ...answer }, '2026-07-28', false);
    expect(read({ resultType: 'task', taskId: 't', pollIntervalMs: 5 })).toMatchObject({
      kind: 'task',
      task: { generation: '2026-07-28', taskId: 't', pollIntervalMs: 5 },
    });
    expect(read({ resultType: 'task' }).kind).toBe('invalid');
    expect(read({ resultType: 'complete', content }).kind).toBe('complete');
    expect(read({ resultType: 'input_required', requestState: 's' })).toEqual({
      kind: 'input_required',
      requests: {},
      state: 's',
    });
    expect(read({ resultType: 'input_required', inputRequests: [] }).kind).toBe('invalid');
  });

  verifies('G2-16', 'without a result type counts as complete', () => {
    expect(readCallAnswer({ content }, '2026-07-28', false).kind).toBe('complete');
  });

  verifies('G2-62', 'that asks for nothing, with no state, is no question', () => {
    expect(readCallAnswer({ resultType: 'input_required' }, '2026-07-28', false).kind).toBe(
      'invalid',
    );
  });

  test('has content, or something in its place', () => {
    expect(readCallAnswer({ structuredContent: { a: 1 } }, 'older', false).kind).toBe('complete');
    expect(readCallAnswer({ toolResult: 'x' }, 'older', false).kind).toBe('complete');
    expect(readCallAnswer({ content: 'x' }, 'older', false).kind).toBe('invalid');
    expect(readCallAnswer({}, '2025-11-25', false).kind).toBe('invalid');
  });
});
