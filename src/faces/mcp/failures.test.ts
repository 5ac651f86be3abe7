import { expect, test } from 'vitest';
import { RpcFailure } from '../../runtime/surface.ts';
import { atCapacity, errorOfThrown, extensionRequired } from './failures.ts';

function sink() {
  const lines: string[] = [];
  const note = (event: string, fields: object = {}): void =>
    void lines.push(JSON.stringify({ event, ...fields }));
  return {
    lines,
    logger: { debug: note, info: note, warn: note, error: note },
    random: { bytes: (count: number) => new Uint8Array(count).fill(7), fraction: () => 0 },
  };
}

test('a failure that is meant for the caller passes as it is', () => {
  const { lines, ...rest } = sink();
  expect(errorOfThrown(rest, new RpcFailure(-32_000, 'theirs', { a: 1 }))).toEqual({
    code: -32_000,
    message: 'theirs',
    data: { a: 1 },
  });
  expect(errorOfThrown(rest, new RpcFailure(5, 'bare'))).toEqual({ code: 5, message: 'bare' });
  expect(lines).toEqual([]);
});

test('anything else stays in the log, under the id that the caller gets', () => {
  const { lines, ...rest } = sink();
  const error = errorOfThrown(rest, new Error('secret path'));
  expect(error).toMatchObject({ code: -32_603, message: 'internal error' });
  expect(JSON.stringify(error)).not.toContain('secret');
  expect(lines.join()).toContain('secret path');
  expect(lines.join()).toContain((error.data as { errorId: string }).errorId);
  expect(errorOfThrown(rest, 'a bare string').message).toBe('internal error');
});

test('refusals carry what a program needs', () => {
  expect(atCapacity('perPrincipal', 5000)).toMatchObject({
    code: 1429,
    data: { reason: 'capacity', limit: 'perPrincipal', retryAfterMs: 5000 },
  });
  expect(extensionRequired('tasks/get').data).toEqual({
    requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  });
});
