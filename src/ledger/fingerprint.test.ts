import { describe, expect, it } from 'vitest';
import { createFingerprint } from './fingerprint.ts';

const fingerprint = createFingerprint(new Uint8Array(32).fill(7));
const call = {
  tenant: 'acme',
  tool: 'pay',
  arguments: { invoice: 'i-1', amount: { value: 10, currency: 'EUR' } },
};

describe('the fingerprint of a call', () => {
  it('is the same however the members are ordered', () => {
    const reordered = {
      ...call,
      arguments: { amount: { currency: 'EUR', value: 10 }, invoice: 'i-1' },
    };
    expect(fingerprint(reordered)).toBe(fingerprint(call));
  });

  it.each([
    ['tool', { ...call, tool: 'refund' }],
    ['arguments', { ...call, arguments: { ...call.arguments, invoice: 'i-2' } }],
    ['tenant', { ...call, tenant: 'other' }],
  ])('differs with another %s', (_what, other) => {
    expect(fingerprint(other)).not.toBe(fingerprint(call));
  });

  it('differs between installations, so that nobody can look arguments up', () => {
    const elsewhere = createFingerprint(new Uint8Array(32).fill(8));
    expect(elsewhere(call)).not.toBe(fingerprint(call));
  });

  it('takes numbers that JSON in doubles cannot tell apart, as they were printed', () => {
    expect(() => fingerprint({ ...call, arguments: { id: 2 ** 60 } })).not.toThrow();
  });
});
