import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Mission {
  readonly statements: readonly string[];
  readonly shown: readonly { readonly id: string; readonly file: string; readonly name: string }[];
  readonly notYet: readonly string[];
}

/** docs/mission.md: statements, the tests that show them, and the list of those that none shows yet. */
function parseMission(text: string): Mission {
  const section = (title: string): string =>
    text.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
  const rows = (title: string): readonly string[][] =>
    [...section(title).matchAll(/^\| (S\d+) .*\|$/gm)].map(([row]) =>
      row.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
    );
  return {
    statements: rows('Statements').map(([, id = '']) => id),
    shown: rows('Shown by').map(([, id = '', file = '', name = '']) => ({ id, file, name })),
    notYet: [...section('Not shown yet').matchAll(/^- (S\d+)/gm)].map(([, id = '']) => id),
  };
}

function mistakesIn({ statements, shown, notYet }: Mission, read = readTest): readonly string[] {
  const shownIds = new Set(shown.map(({ id }) => id));
  return [
    ...shown
      .filter(({ id }) => !statements.includes(id))
      .map(({ id }) => `${id}: is shown, but is no statement`),
    ...shown
      .filter(({ file, name }) => name === '' || !(read(file)?.includes(name) ?? false))
      .map(({ id, file, name }) => `${id}: ${file} has no test "${name}"`),
    ...statements
      .filter((id) => !shownIds.has(id) && !notYet.includes(id))
      .map((id) => `${id}: no test shows it, and it is not listed as not shown yet`),
    ...notYet
      .filter((id) => shownIds.has(id) || !statements.includes(id))
      .map((id) => `${id}: is listed as not shown yet, but a test shows it or it does not exist`),
  ];
}

/** The text of a test file, or undefined when there is none at that path. */
function readTest(file: string): string | undefined {
  return file.endsWith('.test.ts') && existsSync(ROOT + file)
    ? readFileSync(ROOT + file, 'utf8')
    : undefined;
}

const document = readFileSync(`${ROOT}docs/mission.md`, 'utf8');

test('every statement has tests that exist, or is listed as not shown yet', () => {
  const mission = parseMission(document);
  expect(mission.statements).toEqual(Array.from({ length: 31 }, (_, index) => `S${index + 1}`));
  expect(mistakesIn(mission)).toEqual([]);
});

test.each([
  ['no test shows it', [], []],
  ['has no test "gone"', [{ id: 'S1', file: 'a.test.ts', name: 'gone' }], []],
  ['has no test "there"', [{ id: 'S1', file: 'b.test.ts', name: 'there' }], []],
  ['has no test ""', [{ id: 'S1', file: 'a.test.ts', name: '' }], []],
  ['but a test shows it', [{ id: 'S1', file: 'a.test.ts', name: 'there' }], ['S1']],
  ['is no statement', [{ id: 'S9', file: 'a.test.ts', name: 'there' }], ['S1']],
  ['does not exist', [], ['S1', 'S9']],
])('a document is refused that says: %s', (because, shown, notYet) => {
  const read = (file: string) => (file === 'a.test.ts' ? "test('there', f)" : undefined);
  expect(mistakesIn({ statements: ['S1'], shown, notYet }, read).join('\n')).toContain(because);
});

test('the tables and the list of the document are read as written', () => {
  const text = [
    '## Statements\n\n| id | statement |\n| -- | -- |\n| S1 | one |',
    '## Shown by\n\n| S1 | `a.test.ts` | it holds |',
    '## Not shown yet\n\n- S2: why',
  ].join('\n\n');
  expect(parseMission(text)).toEqual({
    statements: ['S1'],
    shown: [{ id: 'S1', file: 'a.test.ts', name: 'it holds' }],
    notYet: ['S2'],
  });
});
