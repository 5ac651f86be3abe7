import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cliReference } from '../../scripts/cli-reference.ts';
import { ERROR_CATALOGUE } from '../../src/kernel/errors.ts';

const page = readFileSync(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8');

test('the page about the command line is what the commands define', () => {
  expect(page, 'run `node scripts/cli-reference.ts`').toBe(cliReference());
});

test('it has every command, with its arguments and options', () => {
  for (const command of [
    'gateway',
    'tasks list',
    'tasks watch',
    'ops show',
    'doctor',
    'config validate',
  ])
    expect(page).toContain(`\n## ${command}\n`);
  expect(page).toContain('longcall tasks get <id> [options]');
  expect(page).toContain('| `--phase <phase>` | only these (one of open, ended) |');
});

test('it names every exit code that an error of the catalogue has', () => {
  const codes = new Set(Object.values(ERROR_CATALOGUE).map(({ exitCode }) => exitCode));
  for (const code of codes) expect(page).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
});
