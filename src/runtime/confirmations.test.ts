import { expect, test } from 'vitest';
import { systemRandom } from '../kernel/random.ts';
import { createConfirmations } from './confirmations.ts';

const make = (fill: number, callbackUrl?: string) =>
  createConfirmations({
    key: new Uint8Array(32).fill(fill),
    random: systemRandom,
    callbackUrl: () => callbackUrl,
  });

test('a confirmation is unguessable, and kept as a hash that no other installation makes', () => {
  const confirmations = make(1);
  const [one, two] = [confirmations.issue(), confirmations.issue()];
  expect(one.confirmation.token).toMatch(/^[\w-]{43}$/);
  expect(one.confirmation.token).not.toBe(two.confirmation.token);
  expect(confirmations.hashOf(one.confirmation.token)).toBe(one.hash);
  expect(make(2).hashOf(one.confirmation.token)).not.toBe(one.hash);
  expect(one.hash).not.toContain(one.confirmation.token);
});

test('it says where to confirm, if there is such a place', () => {
  expect(make(1).issue().confirmation).not.toHaveProperty('callbackUrl');
  const url = 'http://127.0.0.1:8787/confirm';
  expect(make(1, url).issue().confirmation.callbackUrl).toBe(url);
});
