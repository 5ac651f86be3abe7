import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSealer } from './seal.ts';

const sealer = createSealer(randomBytes(32));
const NOW = 1_000;

test('what was sealed opens again', () => {
  const sealed = sealer.seal('cursor', { after: 'x', owner: 'o' });
  expect(sealer.open('cursor', sealed, NOW)).toEqual({ after: 'x', owner: 'o' });
});

test('no altered character goes unnoticed', () => {
  const sealed = sealer.seal('cursor', { after: 'task', owner: 'someone' });
  fc.assert(
    fc.property(
      fc.nat(sealed.length - 1),
      fc.constantFrom('A', 'b', '0', '_', '.', '-'),
      (at, character) => {
        const altered = sealed.slice(0, at) + character + sealed.slice(at + 1);
        // The last character of base64url may carry unused bits, so the same bytes can have two spellings.
        fc.pre(altered !== sealed && at !== sealed.length - 1);
        expect(sealer.open('cursor', altered, NOW)).toBeUndefined();
      },
    ),
  );
});

test('it opens for no other purpose, with no other key and not after its time', () => {
  const sealed = sealer.seal('state', { a: 1 }, NOW + 5);
  expect(sealer.open('cursor', sealed, NOW)).toBeUndefined();
  expect(createSealer(randomBytes(32)).open('state', sealed, NOW)).toBeUndefined();
  expect(sealer.open('state', sealed, NOW + 4)).toEqual({ a: 1 });
  expect(sealer.open('state', sealed, NOW + 5)).toBeUndefined();
});

test('any text is answered without throwing', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      expect(sealer.open('cursor', text, NOW)).toBeUndefined();
    }),
  );
  expect(sealer.open('cursor', 'x'.repeat(100_000), NOW)).toBeUndefined();
});
