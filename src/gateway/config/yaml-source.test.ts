import { describe, expect, test } from 'vitest';
import { readYaml } from './yaml-source.ts';

const FILE = 'longcall.yaml';
const read = (text: string, env: Record<string, string> = {}) =>
  readYaml({ text, file: FILE, env });

describe('where things stand', () => {
  const source = read('listen:\n  mcp: "127.0.0.1:1"\nlist: [a, b]\n');

  test('a value and its key have their own line and column', () => {
    expect(source.valueAt(['listen', 'mcp']).where).toBe('longcall.yaml:2:8');
    expect(source.keyAt(['listen', 'mcp']).where).toBe('longcall.yaml:2:3');
    expect(source.valueAt(['list', 1]).where).toBe('longcall.yaml:3:11');
  });

  test('what is not there is placed at what is around it', () => {
    expect(source.valueAt(['listen', 'admin', 'x']).where).toBe('longcall.yaml:2:3');
    expect(source.valueAt(['nothing']).where).toBe('longcall.yaml:1:1');
  });
});

describe('${NAME}', () => {
  test('is replaced everywhere in values, also several times in one', () => {
    const { data, problems } = read('a: ${X}\nb: ["${X}-${Y}"]\n', { X: 'one', Y: 'two' });
    expect(problems).toEqual([]);
    expect(data).toEqual({ a: 'one', b: ['one-two'] });
  });

  test('what was written stays readable without what the environment holds', () => {
    const source = read('a: { b: "Bearer ${SECRET}" }\nc: 5\n', { SECRET: 'hunter2' });
    expect(source.data).toEqual({ a: { b: 'Bearer hunter2' }, c: 5 });
    expect(source.writtenAt(['a', 'b'])).toBe('Bearer ${SECRET}');
    expect(source.writtenAt(['c'])).toBe(5);
    const shared = read('a: &a "${SECRET}"\nb: [*a, x]\nc: *a\n', { SECRET: 'hunter2' });
    expect(shared.data).toEqual({ a: 'hunter2', b: ['hunter2', 'x'], c: 'hunter2' });
    expect([shared.writtenAt(['b']), shared.writtenAt(['c'])]).toEqual([
      ['${SECRET}', 'x'],
      '${SECRET}',
    ]);
  });

  test('a value from the environment is text and is not read again', () => {
    expect(read('a: ${X}\n', { X: '${Y}', Y: 'no' }).data).toEqual({ a: '${Y}' });
    expect(read('a: ${X}\n', { X: '[1, 2]' }).data).toEqual({ a: '[1, 2]' });
  });

  test('$${NAME} is the text itself', () => {
    expect(read('a: $${X}\n', { X: 'one' }).data).toEqual({ a: '${X}' });
  });

  test('a missing one is an error at its value, each one', () => {
    const { problems } = read('a: 1\nb:\n  - ${NOPE}\n  - ${bad name}\n');
    expect(problems.map(({ where, path }) => [where, path])).toEqual([
      ['longcall.yaml:3:5', 'b.0'],
      ['longcall.yaml:4:5', 'b.1'],
    ]);
    expect(problems[0]?.message).toContain('NOPE');
  });

  test('keys and comments are left alone', () => {
    const { data, problems } = read('"${X}": 1 # ${Y}\n');
    expect([data, problems]).toEqual([{ '${X}': 1 }, []]);
  });
});

describe('what is not YAML', () => {
  test.each([
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'longcall.yaml:3:1'],
    ['an open bracket', 'a: [1, 2\n', 'longcall.yaml:2:1'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'longcall.yaml:2:1'],
    ['a tab for indentation', 'a:\n\tb: 1\n', 'longcall.yaml:2:1'],
  ])('%s is an error with its line', (_, text, where) => {
    const { problems, data } = read(text);
    expect(problems[0]?.where).toBe(where);
    expect(data).toEqual({});
  });

  test('an empty file says nothing, a list is its root', () => {
    expect(read('').data).toEqual({});
    expect(read('# only a comment\n').problems).toEqual([]);
    expect(read('- a\n').root).toEqual(['a']);
  });

  test('aliases cannot make a small file large', () => {
    const layers = Array.from(
      { length: 12 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
    );
    const { problems } = read(['l0: &l0 [x]', ...layers].join('\n'));
    expect(problems[0]?.message).toContain('alias');
    expect(read('a: *nowhere\n').problems[0]?.message).toMatch(/alias.*nowhere/i);
  });
});
