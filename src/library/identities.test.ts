import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '../identity/authenticate.ts';
import { NO_TOKENS } from '../identity/static-token.ts';
import { createManualClock } from '../kernel/manual-clock.ts';
import { createRequestIdentities, principalOfIdentity, withoutStrangers } from './identities.ts';

const NOON = Date.UTC(2026, 5, 1, 12);
const clock = createManualClock(NOON);
const from = (localAddress: string): IncomingMessage =>
  Object.assign(new IncomingMessage(new Socket()), { socket: { localAddress } });

describe('callers without a token', () => {
  const open = withoutStrangers(
    createAuthenticator({ tokens: NO_TOKENS, allowAnonymous: true, clock, localToken: 'lct_x' }),
  );

  test.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])(
    'are served where they came in over loopback: %s',
    (address) => {
      expect(open.authenticate(undefined, from(address))).toMatchObject({ kind: 'principal' });
    },
  );

  test.each(['10.0.0.7', '0.0.0.0', '::', 'fe80::1', '1270.0.0.1', ''])(
    'are strangers where they came in by another address: %j',
    (address) => {
      const answer = { kind: 'denied', reason: 'missing' };
      expect(open.authenticate(undefined, from(address))).toEqual(answer);
    },
  );

  test('a token counts whatever the address, and a wrong one never', () => {
    expect(open.authenticate('Bearer lct_x', from('10.0.0.7'))).toMatchObject({
      kind: 'principal',
    });
    expect(open.authenticate('Bearer no', from('127.0.0.1'))).toMatchObject({ kind: 'denied' });
  });
});

describe('who the author says asks', () => {
  test('is the same person whatever the request, and another one in another tenant', () => {
    const ann = principalOfIdentity({ subject: 'ann', tenant: 'acme' });
    expect(principalOfIdentity({ subject: 'ann', tenant: 'acme', scopes: ['task.read'] }).key).toBe(
      ann.key,
    );
    expect(principalOfIdentity({ subject: 'ann', tenant: 'other' }).key).not.toBe(ann.key);
    expect(principalOfIdentity({ subject: 'ann', tenant: 'acme', issuer: 'x' }).key).not.toBe(
      ann.key,
    );
  });

  test.each<readonly [string, object]>([
    ['no subject', {}],
    ['an empty subject', { subject: ' ' }],
    ['a subject that is no text', { subject: 7 }],
    ['an empty tenant', { subject: 'ann', tenant: '' }],
    ['a client that is no text', { subject: 'ann', client: null }],
    ['scopes that are no list', { subject: 'ann', scopes: '*' }],
    ['an end that is no time', { subject: 'ann', expiresAt: Number.NaN }],
  ])('is nobody with %s, and never shares records with the next one', async (_what, identity) => {
    const { admit, authenticator } = createRequestIdentities(() => identity as never, clock);
    const request = from('10.0.0.7');
    const refusal = { code: 'LONGCALL_LIBRARY_USAGE' };
    await expect(admit(request)).rejects.toMatchObject(refusal);
    expect(authenticator.authenticate(undefined, request)).toMatchObject({ kind: 'denied' });
  });

  test('is asked once for a request, and counts until the credential ends', async () => {
    let asked = 0;
    const { admit, authenticator } = createRequestIdentities(() => {
      asked += 1;
      return { subject: 'ann', expiresAt: clock.now() + 1_000 };
    }, clock);
    const request = from('10.0.0.7');
    expect(authenticator.authenticate(undefined, request)).toMatchObject({ kind: 'denied' });
    await admit(request);
    expect(authenticator.authenticate(undefined, request)).toMatchObject({
      principal: { subject: 'ann', tenant: 'default', issuer: 'app', scopes: ['*'] },
    });
    clock.advance(1_000);
    expect(authenticator.authenticate(undefined, request)).toEqual({
      kind: 'denied',
      reason: 'expired',
    });
    expect(asked).toBe(1);
    expect(authenticator.authenticate('Bearer x', from('127.0.0.1'))).toEqual({
      kind: 'denied',
      reason: 'unknown',
    });
  });
});
