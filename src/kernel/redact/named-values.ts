import type { RedactionRule } from './rule.ts';

/** Ends of names whose values are secrets, wherever they stand: `db_password`, `clientSecret`, `X-Api-Key`. */
const SECRET_WORDS = [
  'passw(?:or)?d',
  'passphrase',
  'passcode',
  'secret',
  'token',
  'api[_-]?key',
  'private[_-]?key',
  'access[_-]?key(?:[_-]?id)?',
  'account[_-]?key',
  'secret[_-]?key',
  'signing[_-]?key',
  'encryption[_-]?key',
  'credentials?',
  'authorization',
  'cookie',
  'session[_-]?id',
];
/** Short words are names on their own only. */
const SHORT_WORDS = ['pwd', 'pass', 'pin', 'otp', 'cvv2?', 'cvc2?', 'sig', 'auth', 'jwt'];

const NAME = `(?:${SECRET_WORDS.join('|')}|(?<![A-Za-z0-9])(?:${SHORT_WORDS.join('|')}))`;
/** What says that there is no secret, or that it was taken out before. */
const NOTHING = String.raw`(?!(?:null|true|false|none|undefined)(?![\w-])|["'\\]{0,3}\[redacted\]|["'\\]{0,3}\*{3})`;
const DOUBLE_QUOTED = String.raw`"(?:[^"\\\n]|\\.)+"?`;
const SINGLE_QUOTED = String.raw`'(?:[^'\\\n]|\\.)+'?`;
/** JSON inside a JSON string. */
const ESCAPED_QUOTED = String.raw`\\"(?:[^"\\\n]|\\[^"])+(?:\\")?`;
const BARE = String.raw`(?:(?:bearer|basic|digest|token)\s{1,8})?[^\s"'\\,;&<>()\[\]{}]+`;

const SEPARATOR = String.raw`(?:\\?["'])?\s{0,8}(?:=>|[:=])\s{0,8}`;

/** Values of fields with a secret's name: in JSON, YAML, headers, query strings, environments and command lines. */
export const NAMED_VALUE_RULES: readonly RedactionRule[] = [
  {
    name: 'named-value',
    pattern: new RegExp(
      `(?<before>${NAME}${SEPARATOR})${NOTHING}(?:${DOUBLE_QUOTED}|${SINGLE_QUOTED}|${ESCAPED_QUOTED}|${BARE})`,
      'gi',
    ),
  },
  {
    name: 'named-argument',
    pattern: new RegExp(
      String.raw`(?<before>(?<![\w-])--?[\w-]{0,40}?${NAME}\s{1,4})(?!-|\[redacted\])[^\s]+`,
      'gi',
    ),
  },
];
