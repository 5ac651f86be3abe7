import { describe, expect, test } from 'vitest';
import { createManualClock } from '../kernel/manual-clock.ts';
import { createAuthenticator } from './authenticate.ts';
import { parseBearer } from './bearer.ts';
import { localPrincipal } from './principal.ts';
import { digestOf, NO_TOKENS, type StaticToken } from './static-token.ts';

const NOON = Date.UTC(2026, 5, 1, 12);
const LOCAL = 'lct_local-token-of-this-machine-0123456789';

function token(name: string, members: Partial<StaticToken> = {}): StaticToken {
  return {
    name,
    digest: digestOf(`token-of-${name}`),
    subject: name,
    tenant: 'north',
    scopes: ['*'],
    ...members,
  };
}

const TOKENS = [
  token('alice'),
  token('bob', { tenant: 'south' }),
  token('carol', { expiresAt: NOON }),
];
const clock = createManualClock(NOON - 1000);
const withTokens = createAuthenticator({
  localToken: LOCAL,
  tokens: { current: () => TOKENS },
  allowAnonymous: false,
  clock,
});
const loopback = createAuthenticator({
  localToken: LOCAL,
  tokens: NO_TOKENS,
  allowAnonymous: true,
  clock,
});

const who = (authorization: string, authenticator = withTokens) => {
  const answer = authenticator.authenticate(authorization);
  return answer.kind === 'principal' ? answer.principal : answer.reason;
};

describe('the Authorization header', () => {
  test('is a bearer token in any spelling of the scheme', () => {
    expect(parseBearer('Bearer abc.DEF-1_2~3+4/5==')).toEqual({
      kind: 'token',
      token: 'abc.DEF-1_2~3+4/5==',
    });
    expect(parseBearer('bearer abc')).toEqual({ kind: 'token', token: 'abc' });
    expect(parseBearer('BEARER abc')).toEqual({ kind: 'token', token: 'abc' });
  });

  test('is missing only when it is not there', () => {
    expect(parseBearer(undefined)).toEqual({ kind: 'missing' });
  });

  test.each([
    '',
    ' ',
    'Bearer',
    'Bearer ',
    'Bearer  abc',
    'Bearer abc ',
    ' Bearer abc',
    'Bearer abc def',
    'Bearer abc, Bearer def',
    'Bearer a=b',
    'Bearer äöü',
    'Bearer abc\n',
    'Basic YWxpY2U6cHc=',
    'Token abc',
    'abc',
    `Bearer ${'a'.repeat(5000)}`,
  ])('%j is malformed', (header) => {
    expect(parseBearer(header)).toEqual({ kind: 'malformed' });
  });
});

describe('who asks', () => {
  test('the local token is the user of this machine, the same as over stdio', () => {
    expect(who(`Bearer ${LOCAL}`)).toEqual(localPrincipal());
  });

  test('two tokens in two tenants are two principals', () => {
    const [alice, bob] = [who('Bearer token-of-alice'), who('Bearer token-of-bob')];
    expect(alice).toMatchObject({
      tenant: 'north',
      subject: 'alice',
      method: 'token',
      scopes: ['*'],
    });
    expect(bob).toMatchObject({ tenant: 'south', subject: 'bob', method: 'token' });
    expect(
      new Set([alice, bob, localPrincipal()].map((principal) => (principal as { key: string }).key))
        .size,
    ).toBe(3);
  });

  test('a new token for the same subject and tenant is the same principal', () => {
    const rotated = createAuthenticator({
      tokens: { current: () => [token('alice'), token('alice-new', { subject: 'alice' })] },
      allowAnonymous: false,
      clock,
    });
    expect(who('Bearer token-of-alice-new', rotated)).toEqual(
      who('Bearer token-of-alice', rotated),
    );
  });

  test('a token counts until the very moment of its expiry', () => {
    const soon = createManualClock(NOON - 1);
    const authenticator = createAuthenticator({
      tokens: { current: () => TOKENS },
      allowAnonymous: false,
      clock: soon,
    });
    expect(who('Bearer token-of-carol', authenticator)).toMatchObject({
      subject: 'carol',
      expiresAt: NOON,
    });
    soon.advance(1);
    expect(who('Bearer token-of-carol', authenticator)).toBe('expired');
  });

  test('a token that was taken out says nothing from the next request on', () => {
    let tokens = TOKENS;
    const authenticator = createAuthenticator({
      tokens: { current: () => tokens },
      allowAnonymous: false,
      clock,
    });
    expect(who('Bearer token-of-alice', authenticator)).toMatchObject({ subject: 'alice' });
    tokens = TOKENS.slice(1);
    expect(who('Bearer token-of-alice', authenticator)).toBe('unknown');
  });

  test('without the local user its token is an unknown one', () => {
    expect(
      who(
        `Bearer ${LOCAL}`,
        createAuthenticator({ tokens: NO_TOKENS, allowAnonymous: true, clock }),
      ),
    ).toBe('unknown');
  });
});

describe('who is turned away', () => {
  test.each([
    ['Bearer nobody', 'unknown'],
    ['Bearer token-of-alic', 'unknown'],
    ['Bearer token-of-alicee', 'unknown'],
    ['Bearer TOKEN-OF-ALICE', 'unknown'],
    [`Bearer ${digestOf('token-of-alice').toString('hex')}`, 'unknown'],
    ['Basic YWxpY2U6cHc=', 'malformed'],
    ['', 'malformed'],
  ])('%s: %s', (header, reason) => {
    expect(who(header)).toBe(reason);
    expect(who(header, loopback), 'nor taken for an anonymous caller').toBe(reason);
  });

  test('no token at all is anonymous only where that is allowed', () => {
    expect(loopback.authenticate(undefined)).toMatchObject({
      principal: { method: 'anonymous', scopes: [] },
    });
    expect(withTokens.authenticate(undefined)).toEqual({ kind: 'denied', reason: 'missing' });
    expect([loopback.allowsAnonymous, withTokens.allowsAnonymous]).toEqual([true, false]);
  });
});

/** Comparing by `===` would stop at the first difference; a spy cannot see that, so the text is asked. */
test('digests are compared in constant time, and all of them', async () => {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(new URL('./authenticate.ts', import.meta.url), 'utf8');
  expect(text.match(/timingSafeEqual\(/g)).toHaveLength(2);
  expect(text).not.toMatch(
    /[!=]==? *(?:given|token|localToken)\b|\.equals\(|\.find\(|\.includes\(|break;/,
  );
});
