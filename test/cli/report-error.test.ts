import { describe, expect, test } from 'vitest';
import { ConfigInvalidError } from '../../src/gateway/config/problems.ts';
import { LongcallError } from '../../src/kernel/errors.ts';
import { openTerminal } from './terminal.ts';
import { reportError } from '../../src/cli/report-error.ts';

const LOCKED = new LongcallError(
  'LONGCALL_DATA_LOCKED',
  'the data directory /d is in use by process 7',
  {
    hint: 'stop that process',
    data: { pid: 7 },
  },
);
const INVALID = new ConfigInvalidError([
  {
    where: 'longcall.yaml:2:1',
    file: 'longcall.yaml',
    line: 2,
    column: 1,
    path: 'lisen',
    message: 'unknown key',
  },
  { where: 'flag --listen', path: 'listen.mcp', message: 'must be host:port' },
]);

function report(thrown: unknown, asJson: boolean, env: Record<string, string> = {}) {
  const { io, written } = openTerminal({ env });
  return { code: reportError(io, thrown, asJson), ...written };
}

describe('an error in words', () => {
  test('is one line with its code and what to do next', () => {
    expect(report(LOCKED, false)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error LONGCALL_DATA_LOCKED: the data directory /d is in use by process 7 (stop that process)\n',
    });
  });

  test('of a configuration has a line for each thing that is wrong', () => {
    const { code, stderr } = report(INVALID, false);
    expect(code).toBe(2);
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      'longcall.yaml:2:1: lisen: unknown key',
      'flag --listen: listen.mcp: must be host:port',
    ]);
    expect(stderr).toContain('error LONGCALL_CONFIG_INVALID: the configuration has 2 errors');
  });
});

describe('an error as JSON', () => {
  test('is one line with code, message, hint, page, facts, and whether to try again', () => {
    const { stderr, stdout } = report(LOCKED, true);
    expect(stderr.match(/\n/g)).toHaveLength(1);
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'LONGCALL_DATA_LOCKED',
        message: 'the data directory /d is in use by process 7',
        hint: 'stop that process',
        docs: 'docs/reference/errors/LONGCALL_DATA_LOCKED.md',
        retryable: true,
        pid: 7,
      },
    });
  });

  test('of a configuration carries the problems', () => {
    expect(JSON.parse(report(INVALID, true).stderr)).toMatchObject({
      error: { problems: INVALID.problems },
    });
  });
});

describe('what is no error of the catalogue', () => {
  test('is ours, and shows where it happened only when asked', () => {
    const broken = new TypeError('x is not a function');
    expect(report(broken, false)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error LONGCALL_INTERNAL: x is not a function .*\n$/,
      ) as string,
    });
    expect(report(broken, false, { LONGCALL_DEBUG: '1' }).stderr).toContain('report-error.test.ts');
    expect(report('a text', true)).toMatchObject({ code: 1 });
  });

  test('cannot write to the terminal what it likes', () => {
    const { stderr } = report(new Error('one\u001b[2J Authorization: Bearer abcdefghij'), false);
    expect(stderr).not.toMatch(/\u001b|abcdefghij/);
  });
});
