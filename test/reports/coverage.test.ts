import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** Faults that people met with other servers, by id: cases.tsv. A test of one has its id at the end of its name. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CASES = new URL('cases.tsv', import.meta.url);

/** Ids in the closing brackets of a test's name: `… [Q3]`, `… [T1, L3]`. */
export function casesNamedIn(source: string): readonly string[] {
  return [...source.matchAll(/ \[([A-Z]\d(?:, [A-Z]\d)*)\](?=['`"])/g)].flatMap(([, ids = '']) =>
    ids.split(', '),
  );
}

const known = readFileSync(CASES, 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t')[0] ?? '');

const named = new Set(
  globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: ROOT })
    .filter((file) => !file.startsWith('test/reports/coverage'))
    .flatMap((file) => casesNamedIn(readFileSync(ROOT + file, 'utf8'))),
);

describe('what people met with other servers', () => {
  test('each reported fault has a test that is named after what was seen', () => {
    expect(known.filter((id) => !named.has(id))).toEqual([]);
  });

  test('no test names a fault that is not listed', () => {
    expect([...named].filter((id) => !known.includes(id))).toEqual([]);
  });

  test('a name without closing brackets names none', () => {
    expect(casesNamedIn(`test('it waits [Q1] for ever', x)`)).toEqual([]);
    expect(casesNamedIn(`test('it waits [Q1, T3]', x)`)).toEqual(['Q1', 'T3']);
  });
});
