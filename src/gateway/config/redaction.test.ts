import { expect, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { patternProblem, redactionRule } from './redaction.ts';

const masked = (pattern: string, text: string): string =>
  redactionRule('r', pattern).replaceAll(text, () => '*');

test('every match is masked, and what is between stays', () => {
  expect(masked(String.raw`EMP-\d{6}`, 'EMP-123456, EMP-12, EMP-654321.')).toBe('*, EMP-12, *.');
  expect(masked('(?i)acme', 'Acme and ACME')).toBe('* and *');
  expect(masked('ä+', 'aäää🙂ä')).toBe('a*🙂*');
});

test('a pattern that may match nothing masks only what is there', () => {
  expect(masked('b*', 'abba')).toBe('a*a');
});

test('what would loop elsewhere takes linear time', () => {
  const start = systemClock.monotonic();
  expect(masked('(a+)+$', `${'a'.repeat(5_000)}!`)).toBe(`${'a'.repeat(5_000)}!`);
  expect(systemClock.monotonic() - start).toBeLessThan(2_000);
});

test.each([
  ['(', /^is no pattern that RE2 can read: /],
  [String.raw`(a)\1`, /^is no pattern that RE2 can read: /],
  ['(?=a)b', /^is no pattern that RE2 can read: /],
  ['a*', /^must not match an empty text$/],
  ['a'.repeat(501), /^must have at most 500 characters$/],
])('%s is refused', (pattern, problem) => {
  expect(patternProblem(pattern)).toMatch(problem);
});

test('a pattern that is one has no problem', () => {
  expect(patternProblem(String.raw`\bEMP-\d{6}\b`)).toBeUndefined();
});
