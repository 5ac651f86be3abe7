import { createHash } from 'node:crypto';
import { createPrincipal, type Principal } from './principal.ts';

/** Issuer of principals that come from the tokens file. */
export const STATIC_ISSUER = 'longcall:tokens';

/** One entry of the tokens file: a bearer token by its hash, and whom it stands for. */
export interface StaticToken {
  /** For people: names the entry in logs and messages. Says nothing about who asks. */
  readonly name: string;
  /** SHA-256 of the token's characters. */
  readonly digest: Uint8Array;
  readonly subject: string;
  readonly tenant: string;
  /** Set for service tokens: the program is part of who asks. */
  readonly client?: string;
  readonly scopes: readonly string[];
  /** ms since the epoch; from then on the token says nothing any more. */
  readonly expiresAt?: number;
}

/** The tokens that count now. Asked with every request, so that a change of the file needs no restart. */
export interface TokenSource {
  current(): readonly StaticToken[];
}

export const NO_TOKENS: TokenSource = { current: () => [] };

/** SHA-256 of a token, as the tokens file keeps it (there in hex). */
export const digestOf = (token: string): Buffer =>
  createHash('sha256').update(token, 'utf8').digest();

export function principalOf({
  subject,
  tenant,
  client,
  scopes,
  expiresAt,
}: StaticToken): Principal {
  return createPrincipal({
    issuer: STATIC_ISSUER,
    tenant,
    subject,
    method: 'token',
    scopes,
    ...(client === undefined ? {} : { client }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}
