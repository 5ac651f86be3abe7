import { expect, test } from 'vitest';
import { deriveKeys } from './keys.ts';

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);

test('each use has a key of its own, and another installation has others', () => {
  const [own, other] = [deriveKeys(key(1)), deriveKeys(key(2))];
  expect(own.fingerprintKey).toHaveLength(32);
  expect(Buffer.from(own.fingerprintKey)).not.toEqual(Buffer.from(key(1)));
  expect(Buffer.from(own.fingerprintKey)).not.toEqual(Buffer.from(other.fingerprintKey));
  expect(other.sealer.open('cursor', own.sealer.seal('cursor', { a: 1 }), 0)).toBeUndefined();
  expect(own.hashId('tsk_x')).not.toBe(other.hashId('tsk_x'));
});

test('what was sealed before a restart opens after it', () => {
  const sealed = deriveKeys(key(1)).sealer.seal('cursor', { a: 1 });
  expect(deriveKeys(key(1)).sealer.open('cursor', sealed, 0)).toEqual({ a: 1 });
});

test('the name of a secret id in logs is short, steady, and does not hold the id', () => {
  const { hashId } = deriveKeys(key(1));
  expect(hashId('tsk_secret')).toBe(hashId('tsk_secret'));
  expect(hashId('tsk_secret')).toMatch(/^hid_[\w-]{16}$/);
  expect(hashId('tsk_secret')).not.toBe(hashId('tsk_secreu'));
});
