import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/kernel/errors.ts';
import { listFiles } from '../boundaries/source-scan.ts';

const PAGES = fileURLToPath(new URL('../../docs/reference/errors/', import.meta.url));
const HEADINGS = ['What it means', 'Why it happens', 'What to do'];

const codes = Object.keys(ERROR_CATALOGUE).toSorted();
const pages = listFiles(PAGES).map((file) => file.replace(/\.md$/, ''));

test('the catalogue and the pages name the same codes', () => {
  expect(codes.length).toBeGreaterThan(0);
  expect(pages).toEqual(codes);
});

describe('the page says what the catalogue says, and then what to do', () => {
  test.each(Object.entries(ERROR_CATALOGUE))('%s', (code, { summary, exitCode, retryable }) => {
    const page = readFileSync(`${PAGES}${code}.md`, 'utf8');
    const again = retryable ? 'it may be tried again as it is' : 'do not repeat it as it is';
    const opening = `# ${code}\n\n> ${summary}\n\nExit code ${exitCode}; ${again}.\n`;
    expect(page.slice(0, opening.length)).toBe(opening);
    expect([...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual(HEADINGS);
    for (const section of page.split(/^## .+$/m).slice(1)) {
      expect(section.trim().length).toBeGreaterThan(30);
    }
  });
});
