import { describe, expect, test } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import type { JsonObject } from '../kernel/json.ts';
import { createContentCheck } from './content-check.ts';

const check = createContentCheck();
const problem = (properties: JsonObject, content: JsonObject, required: readonly string[] = []) =>
  check({ type: 'object', properties, required }, content);

describe('what does not fit is told with the field and what it takes', () => {
  test.each([
    [{ type: 'integer', minimum: 18 }, 17, 'the field f must be a whole number, at least 18'],
    [{ type: 'number', maximum: 5 }, 6, 'a number, at most 5'],
    [{ type: 'boolean' }, 'yes', 'true or false'],
    [
      { type: 'string', minLength: 3, maxLength: 5 },
      'x',
      'text, at least 3 characters and at most 5',
    ],
    [{ type: 'string', format: 'email' }, 'nowhere', 'text in the format email'],
    [{ enum: ['S', 'M'] }, 'XL', 'one of "S", "M"'],
    [{ oneOf: [{ const: 'S', title: 'small' }, { const: 'M' }] }, 'XL', 'one of "S", "M"'],
    [
      { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 },
      ['c'],
      'a list, at least 1 long, each one of "a", "b"',
    ],
  ] as const)('%j', (field, value, words) => {
    expect(problem({ f: field }, { f: value })).toContain(words);
  });

  test('also where it is missing, and where its name is odd', () => {
    expect(problem({ 'a/b ~c': { type: 'boolean' } }, { 'a/b ~c': 1 })).toContain(
      'the field a/b ~c must be true or false',
    );
    expect(problem({ "it's": { type: 'boolean' } }, {}, ["it's"])).toContain(
      "the field it's is missing",
    );
  });

  test('with no more choices than help', () => {
    const choices = Array.from({ length: 300 }, (_, at) => `choice ${at}`);
    const words = problem({ f: { enum: choices } }, { f: 'none' }) ?? '';
    expect(words.length).toBeLessThanOrEqual(300);
    expect(words).toContain('choice 3');
  });

  test('without what was sent', () => {
    for (const field of [{ type: 'integer' }, { enum: ['a'] }, { type: 'string', format: 'email' }])
      expect(problem({ f: field }, { f: 'canary' })).not.toContain('canary');
  });
});

verifies(['G2-144', 'G1-121'], 'checking is bounded: by the form, and by the content', () => {
  const choices = Array.from({ length: 2000 }, (_, at) => ({ const: `choice-${at}`, title: 'x' }));
  const list = { type: 'array', items: { oneOf: choices } };
  const content = { f: Array.from({ length: 3500 }, () => 'choice-1999') };
  const began = performance.now();
  expect(problem({ f: list }, content)).toBeUndefined();
  expect(performance.now() - began).toBeLessThan(1500);
  expect(problem({ f: list }, { f: 'x'.repeat(65_536) })).toContain('larger than 65536 bytes');
  const deep = {
    type: 'array',
    items: { type: 'array', items: { type: 'array', items: { type: 'array', items: list } } },
  };
  expect(problem({ f: deep }, {})).toContain('too large');
});

test('nothing is fetched: a reference in a form says nothing', () => {
  expect(
    problem({ f: { type: 'string', $ref: 'https://elsewhere.example/x' } }, { f: 'a' }),
  ).toBeUndefined();
});

test('a field named like something that every object inherits is a field like any other', () => {
  const text = { type: 'string' };
  const schema = { type: 'object', properties: { constructor: text, toString: text } };
  expect(check(schema, {})).toBeUndefined();
  expect(check({ ...schema, required: ['toString'] }, {})).toContain('toString');
  expect(check(schema, { constructor: 5 })).toContain('constructor');
});
