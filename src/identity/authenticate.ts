import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import type { Authentication, Authenticator } from './authenticator.ts';
import { parseBearer } from './bearer.ts';
import { anonymousPrincipal, localPrincipal } from './principal.ts';
import { digestOf, principalOf, type StaticToken, type TokenSource } from './static-token.ts';

export interface AuthenticatorOptions {
  /** The token of the data directory; absent where the local user is not served over HTTP. */
  readonly localToken?: string;
  readonly tokens: TokenSource;
  /** Whether a caller without a token is served. A caller with a wrong one never is. */
  readonly allowAnonymous: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Local token, static tokens, anonymous callers (decision 3). Comparing takes the same time whatever the token is:
 * hashes of equal length are compared, and all of them.
 */
export function createAuthenticator({
  localToken,
  tokens,
  allowAnonymous,
  clock,
}: AuthenticatorOptions): Authenticator {
  const localDigest = localToken === undefined ? undefined : digestOf(localToken);
  const authenticateToken = (token: string): Authentication => {
    const given = digestOf(token);
    const known = matching(tokens.current(), given);
    if (localDigest && timingSafeEqual(localDigest, given))
      return { kind: 'principal', principal: localPrincipal() };
    return known ? judgeExpiry(known, clock.now()) : { kind: 'denied', reason: 'unknown' };
  };
  return {
    allowsAnonymous: allowAnonymous,
    authenticate(authorization) {
      const header = parseBearer(authorization);
      if (header.kind === 'token') return authenticateToken(header.token);
      if (header.kind === 'missing' && allowAnonymous)
        return { kind: 'principal', principal: anonymousPrincipal() };
      return { kind: 'denied', reason: header.kind };
    },
  };
}

function matching(tokens: readonly StaticToken[], given: Uint8Array): StaticToken | undefined {
  let found: StaticToken | undefined;
  for (const token of tokens) if (timingSafeEqual(token.digest, given)) found = token;
  return found;
}

function judgeExpiry(token: StaticToken, now: number): Authentication {
  if (token.expiresAt !== undefined && token.expiresAt <= now)
    return { kind: 'denied', reason: 'expired' };
  return { kind: 'principal', principal: principalOf(token) };
}
