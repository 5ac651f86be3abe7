import { describe, expect, test } from 'vitest';
import {
  anonymousPrincipal,
  createPrincipal,
  isIdentified,
  localPrincipal,
  principalKey,
} from './principal.ts';

const alice = { issuer: 'longcall:tokens', tenant: 'north', subject: 'alice' };

describe('the binding key', () => {
  test('is the same for the same person under another token, session or set of scopes', () => {
    const first = createPrincipal({ ...alice, method: 'token', scopes: ['*'], expiresAt: 1 });
    const second = createPrincipal({
      ...alice,
      method: 'token',
      scopes: ['task.read'],
      expiresAt: 2,
    });
    expect(second.key).toBe(first.key);
  });

  test.each([
    ['issuer', { ...alice, issuer: 'longcall:local' }],
    ['tenant', { ...alice, tenant: 'south' }],
    ['subject', { ...alice, subject: 'bob' }],
    ['client', { ...alice, client: 'ci' }],
  ])('is another one for another %s', (_, other) => {
    expect(principalKey(other)).not.toBe(principalKey(alice));
  });

  test('cannot be shifted from one part into the next', () => {
    const shifted = { issuer: 'i', tenant: 'a', subject: 'b\u0000c' };
    expect(principalKey(shifted)).not.toBe(
      principalKey({ issuer: 'i', tenant: 'a\u0000b', subject: 'c' }),
    );
    expect(principalKey({ issuer: 'i', tenant: 'ab', subject: 'c' })).not.toBe(
      principalKey({ issuer: 'i', tenant: 'a', subject: 'bc' }),
    );
  });

  test('stays what it was: stored records are bound by it', () => {
    expect(principalKey(alice)).toMatch(/^prn_[A-Za-z0-9_-]{27}$/);
    expect(localPrincipal().key).toBe('prn_fVYRkN5RXgb6GCw3XuPOFIoHVV6');
    expect(anonymousPrincipal().key).toBe('prn_TbMQwFf85O03a_jMF8KMXyNgdGI');
  });
});

test('the local user can be told from others, an anonymous caller cannot', () => {
  expect(isIdentified(localPrincipal())).toBe(true);
  expect(isIdentified(anonymousPrincipal())).toBe(false);
});
