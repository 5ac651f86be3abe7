import { describe, expect, test } from 'vitest';
import { systemRandom } from './random.ts';
import { createVault, subkey } from './vault.ts';

const KEY = new Uint8Array(32).fill(7);
const vault = createVault(KEY, systemRandom);
const VALUE = { card: '4111', nested: { a: [1, null, 'ä'] } };

describe('a sealed value', () => {
  test('opens where it belongs', () => {
    expect(vault.open(vault.seal(VALUE, 'here'), 'here')).toEqual(VALUE);
  });

  test('opens nowhere else, and for no other installation', () => {
    const sealed = vault.seal(VALUE, 'here');
    expect(vault.open(sealed, 'there')).toBeUndefined();
    const other = createVault(new Uint8Array(32).fill(8), systemRandom);
    expect(other.open(sealed, 'here')).toBeUndefined();
  });

  test('says nothing about itself, not even that it is the same as another', () => {
    const twice = [vault.seal(VALUE, 'here'), vault.seal(VALUE, 'here')];
    expect(twice[0]).not.toBe(twice[1]);
    expect(twice.join()).not.toContain('4111');
  });

  test('does not open when any character of it was changed', () => {
    const sealed = vault.seal(VALUE, 'here');
    for (let at = 0; at < sealed.length - 1; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      expect(vault.open(changed, 'here')).toBeUndefined();
    }
  });

  test.each(['', 'v1.', 'v1.AAAA', 'v2.AAAA', 'v1.a.b', 'nonsense'])('is not %j', (text) => {
    expect(vault.open(text, 'here')).toBeUndefined();
  });
});

test('a key of its own for each use', () => {
  expect(subkey(KEY, 'one')).not.toEqual(subkey(KEY, 'two'));
  expect(subkey(KEY, 'one')).toEqual(subkey(KEY, 'one'));
  expect(subkey(KEY, 'one')).toHaveLength(32);
});
