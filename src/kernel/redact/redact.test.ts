import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCardNumber } from './cards.ts';
import { addRedactionRules, maskSecrets, redactionCounts } from './redact.ts';

/** Pieces are joined here, so that no scanner takes this file for one that holds secrets. */
const made = (...parts: readonly string[]): string => parts.join('');
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const HEX = '0123456789abcdef'.repeat(5);

/** What goes in, what comes out. */
const MASKED: readonly (readonly [text: string, shown: string])[] = [
  ['Authorization: Bearer abcdef0123456789', 'Authorization: [redacted]'],
  ['got "Bearer abcdef0123456789" there', 'got "Bearer [redacted]" there'],
  ['basic dXNlcjpwYXNzd29yZA==', 'basic [redacted]'],
  ['Cookie: a=1; session=abc123; b=2\nnext', 'Cookie: [redacted]\nnext'],
  ['Set-Cookie: sid=abc123; Path=/; HttpOnly', 'Set-Cookie: [redacted]; HttpOnly'],
  ['cookie=abc123', 'cookie=[redacted]'],
  [made('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxIn0', '.c2ln'), '[redacted]'],
  ['password=hunter2secret', 'password=[redacted]'],
  ['DB_PASSWORD = "hunter2 secret", next', 'DB_PASSWORD = [redacted], next'],
  ["{'clientSecret': 'a b c'}", "{'clientSecret': [redacted]}"],
  ['{"access_token":"abc123","n":5}', '{"access_token":[redacted],"n":5}'],
  [
    String.raw`{"text":"{\"password\":\"hunter2\",\"n\":5}"}`,
    String.raw`{"text":"{\"password\":[redacted],\"n\":5}"}`,
  ],
  [
    'https://x/cb?code=1&access_token=abc123&n=5',
    'https://x/cb?code=1&access_token=[redacted]&n=5',
  ],
  ['api_key: "abc123"', 'api_key: [redacted]'],
  ['X-Api-Key: abc123', 'X-Api-Key: [redacted]'],
  ['AccountName=x;AccountKey=abc123==;Suffix=y', 'AccountName=x;AccountKey=[redacted];Suffix=y'],
  ['tool --db-password hunter2 --verbose', 'tool --db-password [redacted] --verbose'],
  ['pin: 1234', 'pin: [redacted]'],
  ['postgres://user:hunter2secret@db/x', 'postgres://[redacted]@db/x'],
  ['https://ghostly-token@host/x', 'https://[redacted]@host/x'],
  ['-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----', '[redacted]'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIabc cut o', '[redacted]'],
  [made('AKIA', 'ABCDEFGHIJKLMNOP'), '[redacted]'],
  [made('AIza', LETTERS.slice(0, 35)), '[redacted]'],
  [made('GOCSPX-', LETTERS.slice(0, 28)), '[redacted]'],
  [made('abc', '8Q~', LETTERS.slice(0, 34)), '[redacted]'],
  [made('ghp_', LETTERS.slice(0, 36)), '[redacted]'],
  [made('github_pat_', LETTERS.slice(0, 30)), '[redacted]'],
  [made('glpat-', LETTERS.slice(0, 20)), '[redacted]'],
  [made('xoxb-', '123456789012-', LETTERS.slice(0, 20)), '[redacted]'],
  [
    made('https://hooks.slack.com/services/', 'T0/B0/', LETTERS.slice(0, 12)),
    'https://hooks.slack.com/services/[redacted]',
  ],
  [made('sk_live_', LETTERS.slice(0, 24)), '[redacted]'],
  [made('whsec_', LETTERS.slice(0, 32)), '[redacted]'],
  [made('sk-proj-', LETTERS.slice(0, 40)), '[redacted]'],
  [made('sk-ant-api03-', LETTERS.slice(0, 40)), '[redacted]'],
  [made('npm_', LETTERS.slice(0, 36)), '[redacted]'],
  [made('pypi-', LETTERS.slice(0, 60)), '[redacted]'],
  [made('hf_', LETTERS.slice(0, 34)), '[redacted]'],
  [made('dckr_pat_', LETTERS.slice(0, 27)), '[redacted]'],
  [made('SG.', LETTERS.slice(0, 22), '.', LETTERS.slice(0, 43)), '[redacted]'],
  [made('SK', HEX.slice(0, 32)), '[redacted]'],
  [made('key-', HEX.slice(0, 32)), '[redacted]'],
  [made('dop_v1_', HEX.slice(0, 64)), '[redacted]'],
  [made('shpat_', HEX.slice(0, 32)), '[redacted]'],
  [made('dapi', HEX.slice(0, 32)), '[redacted]'],
  [made('123456789:AA', LETTERS.slice(0, 33)), '[redacted]'],
  [made('hvs.', LETTERS.slice(0, 24)), '[redacted]'],
  [made('ATATT3', LETTERS.slice(0, 30)), '[redacted]'],
  [made('glsa_', LETTERS.slice(0, 32)), '[redacted]'],
  [made('lin_api_', LETTERS.slice(0, 40)), '[redacted]'],
  [made('ntn_', LETTERS.slice(0, 40)), '[redacted]'],
  [made('PMAK-', HEX.slice(0, 24), '-', HEX.slice(0, 34)), '[redacted]'],
  [made('lct_', LETTERS.slice(0, 43)), '[redacted]'],
  [made('AGE-SECRET-KEY-1', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'), '[redacted]'],
  ['card 4111 1111 1111 1111 ok', 'card [redacted] ok'],
  ['card 378282246310005', 'card [redacted]'],
  ['card 4111\u00a01111\u20091111\u202f1111', 'card [redacted]'],
  ['5555-5555-5555-4444', '[redacted]'],
];

/** What looks like one and is none. */
const KEPT = [
  'wrote 3 of 10 tokens to the report',
  'bearer tokens are refused; basic knowledge helps',
  'max_tokens: 4096, token_count=7, tokenizer: bpe',
  'password: null, token=none, secret: [redacted]',
  'see https://host:8080/path?x=1 and a@b.example',
  'order 4111111111111112, at 1764600000000, 2026-12-01 10:00',
  'sk-ip this; risk-free-approach-to-everything-here',
  'the key is under the mat',
  'tsk_abcdefghijklmnopqrstuvwxyz1',
];

describe('masking secrets', () => {
  test.each(MASKED)('%s', (text, shown) => {
    expect(maskSecrets(text)).toBe(shown);
    expect(maskSecrets(shown)).toBe(shown);
  });

  test.each(KEPT)('ordinary text stays as it is: %s', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  test('a secret is masked wherever it stands in a sentence', () => {
    const secrets = MASKED.filter(([, shown]) => shown === '[redacted]').map(([text]) => text);
    const between = fc.constantFrom(' ', '\n', '"', '(', ', ', '= ', '; ');
    fc.assert(
      fc.property(fc.constantFrom(...secrets), between, between, (secret, before, after) => {
        expect(maskSecrets(`said${before}${secret}${after}end`)).not.toContain(secret);
      }),
    );
  });

  test('cards are known by scheme, length and check digit', () => {
    for (const card of [
      '4222222222222',
      '6011111111111117',
      '30569309025904',
      '3530111333300000',
      '2223003122003222',
    ])
      expect(isCardNumber(card)).toBe(true);
    for (const other of [
      '4111111111111112',
      '0000000000000000',
      '1764600000000',
      '9111111111111111',
    ])
      expect(isCardNumber(other)).toBe(false);
  });
});

describe('configured rules', () => {
  const staffNumbers = {
    name: 'staff-number',
    replaceAll: (text: string, mask: () => string) => text.replaceAll(/EMP-\d{6}/g, mask),
  };

  test('they mask too until they are taken away, and are counted', () => {
    const remove = addRedactionRules([staffNumbers]);
    expect(maskSecrets('asked EMP-123456 and EMP-654321')).toBe('asked [redacted] and [redacted]');
    expect(redactionCounts()['staff-number']).toBe(2);
    remove();
    expect(maskSecrets('asked EMP-123456')).toBe('asked EMP-123456');
  });

  test('a pattern that matches everything does not match what is masked already', () => {
    const words = {
      name: 'words',
      replaceAll: (text: string, mask: () => string) => text.replaceAll(/\w+/g, mask),
    };
    const remove = addRedactionRules([words]);
    const once = maskSecrets('one password=two');
    expect(once).toBe('[redacted] [redacted]=[redacted]');
    expect(maskSecrets(once)).toBe(once);
    remove();
  });
});
