import { expect, test } from 'vitest';
import { JSON_DEPTH_MAX, readJsonText } from './json-text.ts';

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test('JSON text is read as it is', () => {
  expect(readJsonText('{"a":[1,null,"x"]}')).toEqual({
    kind: 'value',
    value: { a: [1, null, 'x'] },
  });
  expect(readJsonText('5')).toEqual({ kind: 'value', value: 5 });
  expect(readJsonText('{')).toEqual({ kind: 'malformed' });
  expect(readJsonText('')).toEqual({ kind: 'malformed' });
});

test('depth is bounded, exactly', () => {
  expect(readJsonText(nested(JSON_DEPTH_MAX)).kind).toBe('value');
  expect(readJsonText(nested(JSON_DEPTH_MAX + 1)).kind).toBe('unsafe');
  expect(readJsonText(nested(100_000)).kind).toBe('unsafe');
});

test('a number that cannot be passed on as it came is refused', () => {
  expect(readJsonText('{"_meta":{"progressToken":1e999}}').kind).toBe('unsafe');
  expect(readJsonText('[-1e999]').kind).toBe('unsafe');
  expect(readJsonText('[1e308]').kind).toBe('value');
});

test('a member named __proto__ is refused at any depth, also when it is spelled with escapes', () => {
  expect(readJsonText('{"__proto__":{}}').kind).toBe('unsafe');
  expect(readJsonText('[{"a":{"\\u005f_proto__":1}}]').kind).toBe('unsafe');
  expect(readJsonText('{"a":"__proto__","constructor":1}').kind).toBe('value');
});
