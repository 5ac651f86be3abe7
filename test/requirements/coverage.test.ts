import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readSources } from '../boundaries/source-scan.ts';
import { chosenTarget } from '../wire/target.ts';
import { citationsIn, readReadings, readRequirements } from './citations.ts';

/** Files that cite: tests, and the checks of the wire suite while it judges the gateway and not its own reference. */
const CITING = chosenTarget() === 'gateway' ? /\.test\.ts$|^wire\/checks\// : /\.test\.ts$/;

const requirements = readRequirements();
const known = new Set([...requirements.map(({ id }) => id), ...readReadings()]);
const cited = new Set(testSources().flatMap(citationsIn));

function testSources() {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  return [...readSources(`${root}src`), ...readSources(`${root}test`)].filter(
    ({ path }) => CITING.test(path) && path !== 'requirements/coverage.test.ts',
  );
}

test('every id in requirements.tsv is there once', () => {
  const ids = requirements.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(300);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('tests cite only ids that exist', () => {
  expect([...cited].filter((id) => !known.has(id))).toEqual([]);
});

test('a test cites every requirement that is owed now', () => {
  const owedNow = requirements.filter(({ owed }) => owed === 'now').map(({ id }) => id);
  expect(owedNow.filter((id) => !cited.has(id))).toEqual([]);
});

test('ids are read from calls, lists and tables, and not from comments or other files', () => {
  const text = [
    "verifies('G1-01', 'one', () => {});",
    "verifies(['G2-02', 'T3'], 'two', () => {});",
    "const rows = [['G1-04', 5]]; // verifies('G1-05')",
  ].join('\n');
  expect(citationsIn({ path: 'a.test.ts', text })).toEqual(['G1-01', 'G2-02', 'T3', 'G1-04']);
  expect(citationsIn({ path: 'b.test.ts', text: "const id = 'G1-01';" })).toEqual([]);
});
