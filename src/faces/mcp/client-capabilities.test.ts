import { expect, test } from 'vitest';
import { asksOf, declaresTasks } from './client-capabilities.ts';

test('an empty elicitation means forms; with modes, those alone', () => {
  expect(asksOf({})).toEqual([]);
  expect(asksOf({ elicitation: {} })).toEqual(['elicitation-form']);
  expect(asksOf({ elicitation: { form: {} } })).toEqual(['elicitation-form']);
  expect(asksOf({ elicitation: { url: {} } })).toEqual(['elicitation-url']);
  expect(asksOf({ elicitation: { form: {}, url: {} } })).toEqual([
    'elicitation-form',
    'elicitation-url',
  ]);
  expect(asksOf({ elicitation: true, sampling: {}, roots: { listChanged: true } })).toEqual([
    'sampling',
    'roots',
  ]);
});

test('only an object under the extension name declares tasks', () => {
  const name = 'io.modelcontextprotocol/tasks';
  expect(declaresTasks({ extensions: { [name]: {} } })).toBe(true);
  expect(declaresTasks({ extensions: { [name]: { unknown: 1 } } })).toBe(true);
  expect(declaresTasks({ extensions: { [name]: true } })).toBe(false);
  expect(declaresTasks({ extensions: {} })).toBe(false);
  expect(declaresTasks({ tasks: {} })).toBe(false);
});
