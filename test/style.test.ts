import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { codeOf, listFiles } from './boundaries/source-scan.ts';
import type { Source } from './boundaries/source-scan.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['.ci', 'bench', 'bin', 'docs', 'examples', 'scripts', 'src', 'test'];
const TEXT = /\.(?:[cm]?[jt]s|json|md|sql|tsv|ya?ml)$|^run$/;
const LINES_MAX = 400;

const DUMPING_GROUND = /^(?:utils?|helpers?|common|types|misc|shared)(?:\.(?:test\.)?ts)?$/;
const KEBAB = /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/;

/** Joins halves of a word that has no place in the repository, so that this file does not hold it either. */
const word = (...halves: readonly string[]): string => halves.join('');

const BANNED_TEXT: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a path of one machine', new RegExp(word('/(?:wo', 'rk|fa', 'rm|tmp/bash_', 'jobs)/'))],
  [
    'a package host',
    new RegExp(word('registry\\.(?:np', 'mjs|yar', 'npkg)|deb\\.deb', 'ian\\.org')),
  ],
  ['unfinished work', new RegExp(word('\\b(?:TO', 'DO|FIX', 'ME|XX', 'X|HA', 'CK)\\b'))],
  [
    'a silenced check',
    new RegExp(word('@ts-(?:ig', 'nore|no', 'check)|(?:ox|es)lint-dis', 'able')),
  ],
];

const BANNED_CODE: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['any', /(?:[:<|&,]|\bas)\s*any\b(?!\s*\()/],
  ['a default export', /\bexport\s+default\b/],
  ['export *', /\bexport\s+\*/],
];

function tidyMistakes({ path, text }: Source): readonly string[] {
  const product = path.startsWith('src/') && !/\.(?:test|generated)\.ts$/.test(path);
  const lines = text.split('\n').length - 1;
  const names = path.split('/').filter((name) => path.endsWith('.ts') && name !== '');
  const code = path.endsWith('.ts') ? codeOf(text) : '';
  return [
    ...(product && lines > LINES_MAX ? [`${lines} lines, at most ${LINES_MAX}`] : []),
    ...names.filter((name) => DUMPING_GROUND.test(name)).map((name) => `${name} names no content`),
    ...names.filter((name) => !KEBAB.test(name)).map((name) => `${name} is not kebab-case`),
    ...BANNED_TEXT.filter(([, pattern]) => pattern.test(text)).map(([what]) => what),
    ...BANNED_CODE.filter(([, pattern]) => pattern.test(code)).map(([what]) => what),
  ].map((mistake) => `${path}: ${mistake}`);
}

function readTree(): readonly Source[] {
  const root = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const below = FOLDERS.flatMap((folder) =>
    listFiles(join(ROOT, folder)).map((path) => `${folder}/${path}`),
  );
  return [...root, ...below]
    .filter((path) => TEXT.test(basename(path)))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

test('the tree is tidy', () => {
  expect(readTree().flatMap(tidyMistakes)).toEqual([]);
});

const UNTIDY: readonly (readonly [because: string, path: string, text: string])[] = [
  ['401 lines', 'src/a.ts', 'x\n'.repeat(401)],
  ['names no content', 'src/runtime/utils.ts', ''],
  ['names no content', 'src/common/a.ts', ''],
  ['kebab-case', 'src/runtime/taskStore.ts', ''],
  ['machine', 'docs/a.md', word('see /wo', 'rk/shared')],
  ['package host', 'docs/a.md', word('registry.np', 'mjs.org')],
  ['unfinished', 'src/a.ts', word('// TO', 'DO: finish')],
  ['silenced', 'src/a.ts', word('// @ts-ig', 'nore')],
  ['any', 'src/a.ts', 'const x = y as any;'],
  ['any', 'src/a.ts', 'const x: Record<string, any> = {};'],
  ['default export', 'src/a.ts', 'export default 1;'],
  ['export *', 'src/a.ts', 'export * from "./b.ts";'],
];

test.each(UNTIDY)('finds: %s, in %s', (because, path, text) => {
  expect(tidyMistakes({ path, text }).join('\n')).toContain(because);
});

test('ordinary words pass', () => {
  const text = '// any caller may do this, as any reader sees: /workers/\nexport const any = 1;';
  expect(tidyMistakes({ path: 'src/kernel/a.ts', text })).toEqual([]);
});
