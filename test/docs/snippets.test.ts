import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listFiles } from '../boundaries/source-scan.ts';
import { runSnippet, snippetsIn } from './snippets.ts';
import type { Snippet } from './snippets.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 120_000;

const pages = [
  'README.md',
  ...listFiles(join(ROOT, 'docs'))
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];
const snippets = pages.flatMap((path) =>
  snippetsIn({ path, text: readFileSync(join(ROOT, path), 'utf8') }),
);

for (const snippet of snippets) {
  test(
    `${snippet.where} does what it says`,
    () => {
      const { ok, output } = runSnippet(snippet);
      expect(ok, output).toBe(true);
    },
    TIMEOUT_MS,
  );
}

test('only blocks that are marked to run are taken', () => {
  const text = ['one', '```sh run', 'ls', '```', '```sh', 'no', '```', '```text', 'no', '```'].join(
    '\n',
  );
  expect(snippetsIn({ path: 'a.md', text })).toEqual([
    { language: 'sh', code: 'ls\n', where: 'a.md:2' },
  ]);
});

const planted = (language: Snippet['language'], code: string): Snippet => ({
  language,
  code,
  where: 'here',
});

test.each([
  planted('sh', 'test -z "$(ls *.ts 2>/dev/null)"\ncommand -v longcall'),
  planted('ts', 'const answer: number = 42;\nprocess.stdout.write(`${answer}`);'),
])('a sound snippet passes', (snippet) => {
  expect(runSnippet(snippet)).toMatchObject({ ok: true });
});

test.each([
  planted('sh', 'false | cat\ntrue'),
  planted('ts', 'const answer: number = "42";'),
  planted('ts', 'throw new Error("at run time");'),
])('a broken snippet fails', (snippet) => {
  expect(runSnippet(snippet)).toMatchObject({ ok: false });
});
