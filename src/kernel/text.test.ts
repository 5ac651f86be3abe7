import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskSecrets, safeText } from './text.ts';

describe('safe text', () => {
  test('escape sequences, bidi overrides and zero-width characters are gone', () => {
    expect(safeText('\u001b[31mred\u001b[0m \u202eevil\u202c a\u200bb')).toBe('red evil ab');
    expect(safeText('\u001b]8;;http://x\u0007link\u001b]8;;\u0007')).toBe('link');
  });

  test('it never exceeds its length, whatever goes in', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 600 }),
        fc.integer({ min: 1, max: 200 }),
        (text, max) => {
          expect(Array.from(safeText(text, max)).length).toBeLessThanOrEqual(max);
        },
      ),
    );
  });

  test('no control character survives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(safeText(text)).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
        );
      }),
    );
  });
});

describe('masking secrets', () => {
  test.each([
    'Authorization: Bearer abcdef0123456789',
    'basic dXNlcjpwYXNzd29yZA==',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    'password=hunter2secret',
    'api_key: "abc123"',
    'postgres://user:hunter2secret@db/x',
    'AKIAABCDEFGHIJKLMNOP',
    '-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----',
  ])('%s', (text) => {
    const masked = maskSecrets(text);
    expect(masked).toContain('[redacted]');
    expect(masked).not.toMatch(
      /hunter2secret|abcdef0123456789|dXNlcjpw|c2ln|abc123|ABCDEFGHIJKLMNOP|MIIabc/,
    );
  });

  test('ordinary words stay as they are', () => {
    expect(maskSecrets('wrote 3 of 10 tokens to the report')).toBe(
      'wrote 3 of 10 tokens to the report',
    );
  });
});
