import { expect, test } from 'vitest';
import { progressText } from './progress-text.ts';

test.each([
  [{ progress: 3, total: 10, message: 'Indexing' }, '3/10 Indexing'],
  [{ progress: 3, total: 10 }, '3/10'],
  [{ progress: 0.333333 }, '0.33'],
  [{ message: 'Nearly' }, 'Nearly'],
  [{ progress: 'x', message: 7 }, undefined],
])('%j reads %j', (params, text) => {
  expect(progressText(params)).toBe(text);
});
