import { REDACTED, type RedactionRule } from './rule.ts';

/** Words follow `bearer` and `basic` in prose as well: a token has a digit or is long. */
const isToken = (match: string): boolean => {
  const value = match.slice(match.search(/\s/)).trim();
  return /\d/.test(value) || value.length >= 20;
};

/** The credentials of HTTP Basic have a colon inside (RFC 7617). */
const isBasic = (match: string): boolean =>
  Buffer.from(match.slice(match.search(/\s/)).trim(), 'base64').includes(':');

/** Credentials as HTTP carries them (RFC 6265, RFC 6750, RFC 7617, RFC 7519) and as URLs do (RFC 3986, userinfo). */
export const HTTP_CREDENTIAL_RULES: readonly RedactionRule[] = [
  {
    name: 'url-userinfo',
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9+.-])(?<before>[a-z][a-z0-9+.-]{0,31}:\/\/)(?!${REDACTED.replaceAll(/[[\]]/g, String.raw`\$&`)}@)[^\s/?#@"'<>]{1,512}(?<after>@)`,
      'gi',
    ),
  },
  {
    // Any pair of the header may be the session, not the first one alone.
    name: 'cookies',
    pattern:
      /(?<before>\bcookie\s{0,8}:\s{0,8})[^\s;="'<>]{1,256}=[^\s;"'<>]*(?:;\s{0,8}[^\s;="'<>]{1,256}=[^\s;"'<>]*)*/gi,
  },
  {
    name: 'jwt',
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){0,3}/g,
  },
  {
    name: 'bearer',
    pattern: /(?<before>\bbearer\s{1,8})[A-Za-z0-9._~+/-]{6,}={0,2}/gi,
    isSecret: isToken,
  },
  {
    name: 'basic',
    pattern: /(?<before>\bbasic\s{1,8})[A-Za-z0-9+/_-]{6,}={0,2}/gi,
    isSecret: isBasic,
  },
];
