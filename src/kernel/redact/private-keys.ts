import type { RedactionRule } from './rule.ts';

/** Keys that come as a block of text (RFC 7468, OpenPGP), also one that was cut off, and keys of age. */
export const PRIVATE_KEY_RULES: readonly RedactionRule[] = [
  {
    name: 'private-key',
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { name: 'age-key', pattern: /AGE-SECRET-KEY-1[0-9A-Z]{20,80}/g },
];
