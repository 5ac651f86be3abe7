import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalJson,
  isJsonObject,
  nestsDeeperThan,
  objectAt,
  stringAt,
  type Json,
} from './json.ts';

/** The same value with the members of every object in the opposite order. */
function mirrored(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => mirrored(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, mirrored(member ?? null)]),
  );
}

describe('canonical JSON', () => {
  test('the order of members does not matter, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(mirrored(value as Json), 'as-printed')).toBe(
          canonicalJson(value as Json, 'as-printed'),
        );
      }),
    );
  });

  test('it parses back to the same value, a member named __proto__ included', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const back: unknown = JSON.parse(canonicalJson(value, 'as-printed'));
        // Not `toEqual`, which takes an own member `__proto__` for the prototype.
        expect(isDeepStrictEqual(back, JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
    );
    const odd = '{"__proto__":{"a":1}}';
    expect(canonicalJson(JSON.parse(odd) as Json)).toBe(odd);
  });

  test('members are sorted by code units and white space is gone', () => {
    expect(canonicalJson({ b: [1, { z: null, a: 'x' }], a: true })).toBe(
      '{"a":true,"b":[1,{"a":"x","z":null}]}',
    );
  });

  test('an integer that has neighbours with the same double is refused, not rounded', () => {
    expect(() => canonicalJson({ amount: 2 ** 53 })).toThrow('beyond 2^53');
    expect(canonicalJson({ amount: 2 ** 53 }, 'as-printed')).toBe('{"amount":9007199254740992}');
    expect(canonicalJson(2 ** 53 - 1)).toBe('9007199254740991');
  });

  test('a number that is not finite is refused', () => {
    expect(() => canonicalJson(Number.NaN)).toThrow('not finite');
  });
});

describe('reading members', () => {
  test('a member of another kind reads as absent', () => {
    const parent = { name: 'x', list: [], inner: { deep: 1 } };
    expect(objectAt(parent, 'list')).toBeUndefined();
    expect(objectAt(parent, 'inner')).toEqual({ deep: 1 });
    expect(stringAt(parent, 'inner')).toBeUndefined();
    expect(stringAt(undefined, 'name')).toBeUndefined();
  });
});

describe('depth', () => {
  const nested = (levels: number): unknown =>
    JSON.parse(`${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`);

  test('counts objects and arrays alike, and scalars not at all', () => {
    expect(nestsDeeperThan(0, 'text')).toBe(false);
    expect(nestsDeeperThan(1, { a: 1, b: null })).toBe(false);
    expect(nestsDeeperThan(1, [[]])).toBe(true);
    expect(nestsDeeperThan(10, nested(10))).toBe(false);
    expect(nestsDeeperThan(9, nested(10))).toBe(true);
  });

  test('that would overflow a stack is told too', () => {
    expect(nestsDeeperThan(256, nested(200_000))).toBe(true);
  });
});
