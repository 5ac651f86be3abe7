/** What an Authorization header says. */
export type BearerHeader =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'malformed' };

const TOKEN_CHARS_MAX = 4096;
/** RFC 6750 §2.1 with the scheme in any case (RFC 9110 §11.1). */
const BEARER = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i;

/** Strict: another scheme, an empty token, two tokens or stray characters are malformed, never ignored. */
export function parseBearer(authorization: string | undefined): BearerHeader {
  if (authorization === undefined) return { kind: 'missing' };
  const token =
    authorization.length > TOKEN_CHARS_MAX ? undefined : BEARER.exec(authorization)?.[1];
  return token === undefined ? { kind: 'malformed' } : { kind: 'token', token };
}
