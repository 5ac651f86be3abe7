import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../../identity/static-token.ts';
import type { LogFields, Logger } from '../../kernel/logger.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { createManualClock } from '../../kernel/manual-clock.ts';
import { ConfigInvalidError, formatProblem } from './problems.ts';
import { openTokensFile, parseTokens } from './tokens-file.ts';

const hashOf = (token: string): string => digestOf(token).toString('hex');
const entry = (name: string, rest = ''): string =>
  `- { name: ${name}, sha256: "${hashOf(name)}", subject: ${name}, tenant: north${rest} }\n`;

describe('what a tokens file says', () => {
  test('is one principal for each token', () => {
    const text = `
# made with: printf %s "$TOKEN" | sha256sum
- name: alice-laptop
  sha256: "${hashOf('a').toUpperCase()}"
  subject: alice
  tenant: north
- { name: ci, sha256: "${hashOf('b')}", subject: robot, tenant: south, client: ci, scopes: [task.*, tool.call], expires: 2027-01-31T00:00:00Z }
`;
    expect(parseTokens(text, 't')).toEqual([
      {
        name: 'alice-laptop',
        digest: digestOf('a'),
        subject: 'alice',
        tenant: 'north',
        scopes: ['*'],
      },
      {
        name: 'ci',
        digest: digestOf('b'),
        subject: 'robot',
        tenant: 'south',
        client: 'ci',
        scopes: ['task.*', 'tool.call'],
        expiresAt: Date.UTC(2027, 0, 31),
      },
    ]);
  });

  test('may be nothing', () => {
    expect([
      parseTokens('', 't'),
      parseTokens('[]', 't'),
      parseTokens('# none yet\n', 't'),
    ]).toEqual([[], [], []]);
  });

  test.each([
    ['a mapping', 'alice: 1\n', 't:1:1: must be a list of tokens'],
    ['broken YAML', '- {', 't:1:4: not valid YAML'],
    [
      'a key of another kind',
      entry('a', ', scope: [x]'),
      '0.scope: unknown key (did you mean "scopes"?)',
    ],
    ['a scope that is none', entry('a', ', scopes: [task.raed]'), '(did you mean "task.read"?)'],
    [
      'a day that is none',
      entry('a', ', expires: 2027-02-11T25:00:00Z'),
      'is no date of the calendar',
    ],
    ['31 February', entry('a', ', expires: 2027-02-31'), 'is no date of the calendar'],
    ['a time without a day', entry('a', ', expires: tomorrow'), 'must be a time such as'],
    [
      'a missing subject',
      `- { name: a, sha256: "${hashOf('a')}", tenant: x }`,
      '0.subject: is missing',
    ],
    [
      'the same token twice',
      entry('a') + entry('b').replace(hashOf('b'), hashOf('a')),
      't:2:22: 1.sha256: is the same',
    ],
    [
      'the same name twice',
      entry('a') + entry('a').replace(hashOf('a'), hashOf('b')),
      't:2:11: 1.name: is the same',
    ],
    ['a text of two lines', entry('a').replace('subject: a', 'subject: "a\\nb"'), 'on one line'],
  ])('%s is an error that says where', (_, text, message) => {
    expect(problemsIn(text).join('\n')).toContain(message);
  });

  test('a token in place of its hash is refused without being repeated', () => {
    const problems = problemsIn(
      '- { name: a, sha256: hunter2-hunter2, subject: a, tenant: x }',
    ).join('\n');
    expect(problems).toContain('not the token');
    expect(problems).not.toContain('hunter2');
  });
});

function problemsIn(text: string): readonly string[] {
  try {
    parseTokens(text, 't');
    return [];
  } catch (error) {
    if (error instanceof ConfigInvalidError) return error.problems.map(formatProblem);
    throw error;
  }
}

describe('a tokens file that changes', () => {
  let directory = '';
  let path = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'longcall-tokens-'));
    path = join(directory, 'tokens.yaml');
    put(entry('alice'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const put = (text: string): void => writeFileSync(path, text, { mode: 0o600 });
  const clock = createManualClock();

  function open() {
    const lines: (readonly [string, LogFields | undefined])[] = [];
    const note = (event: string, fields?: LogFields): void => void lines.push([event, fields]);
    const logger: Logger = { debug: note, info: note, warn: note, error: note };
    const source = openTokensFile({ path, clock, logger });
    const names = (): readonly string[] => {
      clock.advance(1000);
      return source.current().map(({ name }) => name);
    };
    return { names, lines, source };
  }

  test('is read again within a second', () => {
    const { names, lines } = open();
    expect(names()).toEqual(['alice']);
    put(entry('alice') + entry('bob'));
    expect(names()).toEqual(['alice', 'bob']);
    put(entry('bob'));
    expect(names()).toEqual(['bob']);
    expect(lines.map(([event]) => event)).toEqual(['tokens.reloaded', 'tokens.reloaded']);
  });

  test('is not looked at more often than that', () => {
    const { source } = open();
    put(entry('bob'));
    expect(source.current().map(({ name }) => name)).toEqual(['alice']);
  });

  test('an edit that makes no sense leaves the tokens as they were and is said once', () => {
    const { names, lines } = open();
    put('- {');
    expect([names(), names()]).toEqual([['alice'], ['alice']]);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[0]).toBe('tokens.refused');
    put(entry('bob'));
    expect(names()).toEqual(['bob']);
  });

  test('one that others may read, or that is gone, lets nobody in', () => {
    const { names } = open();
    chmodSync(path, 0o644);
    expect(names()).toEqual([]);
    chmodSync(path, 0o600);
    expect(names()).toEqual(['alice']);
    rmSync(path);
    expect(names()).toEqual([]);
    put(entry('bob'));
    expect(names()).toEqual(['bob']);
  });

  test('at the start everything wrong is an error', () => {
    const start = () => openTokensFile({ path, clock, logger: silentLogger });
    chmodSync(path, 0o604);
    expect(start).toThrow(expect.objectContaining({ code: 'LONGCALL_KEY_FILE_UNSAFE' }));
    chmodSync(path, 0o600);
    put('- {');
    expect(start).toThrow(expect.objectContaining({ code: 'LONGCALL_CONFIG_INVALID' }));
    rmSync(path);
    expect(start).toThrow(expect.objectContaining({ code: 'LONGCALL_CONFIG_NOT_FOUND' }));
  });
});
