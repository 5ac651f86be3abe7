import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ROOT_UNITS, UNIT_RULES } from '../boundaries/import-table.ts';
import { listFiles, readSources } from '../boundaries/source-scan.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const architecture = read('ARCHITECTURE.md');
const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...listFiles(join(ROOT, 'docs'))
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];

/** Links to files of this repository that are not there. */
function brokenLinks(page: string, text: string): readonly string[] {
  const targets = [...text.matchAll(/\]\((?<target>[^)\s]+)\)/g)].map(
    ({ groups }) => groups?.['target'] ?? '',
  );
  return targets
    .filter((target) => !/^(?:https?:|mailto:|#)/.test(target))
    .filter((target) => !existsSync(join(ROOT, dirname(page), target.split('#')[0] ?? '')))
    .map((target) => `${page}: ${target}`);
}

/** What the source cites as `pattern`, with the file that does. */
function citations(pattern: RegExp): readonly (readonly [cited: string, file: string])[] {
  return readSources(join(ROOT, 'src')).flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(({ groups }) => [groups?.['id'] ?? '', path] as const),
  );
}

test('links between the pages lead somewhere', () => {
  expect(pages.flatMap((page) => brokenLinks(page, read(page)))).toEqual([]);
  expect(brokenLinks('docs/a.md', '[gone](gone.md), [here](index.md#top)')).toEqual([
    'docs/a.md: gone.md',
  ]);
});

test('ARCHITECTURE.md has a place for every folder of the import table', () => {
  const folders = Object.keys(UNIT_RULES).filter((unit) => !(unit in ROOT_UNITS));
  const files = Object.values(ROOT_UNITS).flat();
  const named = [
    ...folders.map((folder) => `\`${folder}/\``),
    ...files.map((file) => `\`${file}\``),
  ];
  expect(named.filter((name) => !architecture.includes(name))).toEqual([]);
});

test('sections of the architecture, decisions and readings that the source cites exist', () => {
  const sections = [...architecture.matchAll(/^## (\d+)\./gm)].map(([, id]) => id);
  const decisions = [...read('docs/decisions.md').matchAll(/^(\d+)\. /gm)].map(([, id]) => id);
  const readings = [...read('docs/reference/protocol-readings.md').matchAll(/^### T(\d+)\./gm)].map(
    ([, id]) => id,
  );
  const unknown = [
    ...citations(/\barchitecture §(?<id>\d+)/gi).filter(([id]) => !sections.includes(id)),
    ...citations(/\bdecision (?<id>\d+)/gi).filter(([id]) => !decisions.includes(id)),
    ...citations(/[(\s]T(?<id>\d+)[),;:\s]/g).filter(([id]) => !readings.includes(id)),
  ];
  expect(unknown).toEqual([]);
});
