import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock } from './clock.ts';
import { stripControls } from './invisible.ts';
import { maskSecrets, REDACTION_RULES } from './redact/redact.ts';
import { safeText } from './text.ts';

/** Pieces that rules react to, so that random texts meet every rule, its borders and its neighbours. */
const PIECES = [
  ['password', 'token', 'client_secret', 'Authorization', 'sig', 'x-api-key', '--token', 'pass'],
  [
    '=',
    ': ',
    ':',
    '"',
    "'",
    '\\"',
    '\\',
    '{',
    '}',
    ',',
    '&',
    ';',
    ' ',
    '  ',
    '\n',
    '\t',
    '-',
    '.',
    '@',
  ],
  [
    'Bearer ',
    'basic ',
    'dXNlcjpwYXNzd29yZA==',
    'https://',
    'user:pw',
    'eyJhbGciOi',
    'c2lnbmF0dXJl',
  ],
  [
    'AKIA',
    'ABCDEFGHIJKLMNOP',
    'sk-',
    'sk_live_',
    'ghp_',
    'xoxb-',
    'npm_',
    'lct_',
    'SG.',
    'abcdef0123456789',
  ],
  [
    '4111111111111111',
    '4111 1111 1111 1111',
    '1',
    '42',
    '2026-12-01',
    'null',
    '***',
    '[redacted]',
    '…',
  ],
  [
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    'hello',
    'wörld',
    '日本',
    '👩‍💻',
    '🏳️‍🌈',
    '1️⃣',
  ],
  [
    '\u001b[31m',
    '\u001b]0;t\u0007',
    '\u001b',
    '\u009b',
    '[0m',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u200d',
    '\ufe0f',
  ],
  [
    '\u{e0041}',
    '\u{e0100}',
    '\u0000',
    '\r',
    '\r\n',
    '\u2028',
    '\ud800',
    '\udc00',
    'e\u0301\u0302\u0303\u0304\u0305',
    'می\u200cخواهم',
  ],
].flat();
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((all) => all.join(''));
const anyText = fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 600 }));
const anyLength = fc.integer({ min: 1, max: 200 });
const RUNS = { numRuns: 2000 };

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]|\p{Cs}/u;

describe('safe text', () => {
  test('escape sequences, bidi overrides and zero-width characters are gone', () => {
    expect(safeText('\u001b[31mred\u001b[0m \u202eevil\u202c a\u200bb')).toBe('red evil ab');
    expect(safeText('\u001b]8;;http://x\u0007link\u001b]8;;\u0007')).toBe('link');
    expect(safeText('\u009b31mred\u0090q\u009c \u001bPq\u001b\\\u001b(B.')).toBe('red .');
  });

  test('text that is hidden in tags or in variation selectors is gone', () => {
    const hidden = Array.from('ignore all', (char) =>
      String.fromCodePoint(0xe0000 + (char.codePointAt(0) ?? 0)),
    ).join('');
    expect(safeText(`fine${hidden}`)).toBe('fine');
    expect(safeText('a\ufe00\ufe01\u{e0101}b')).toBe('ab');
  });

  test('what belongs to a script or to an emoji stays', () => {
    for (const text of ['می\u200cخواهم', 'क्\u200dष', '👩‍💻 🏳️‍🌈 👩🏽‍🚀 1️⃣', 'Zoë naïve日本語'])
      expect(safeText(text)).toBe(text);
  });

  test('marks do not climb out of their line', () => {
    expect(safeText(`e${'\u0301'.repeat(50)}`)).toBe(`e${'\u0301'.repeat(4)}`);
  });

  test('a secret is not hidden from the mask by characters that nobody sees', () => {
    expect(safeText('pass\u200bword=hunter\u{e0041}2')).toBe('password=[redacted]');
    expect(safeText('AKIA\u001b[0mABCDEFGHIJKLMNOP')).toBe('[redacted]');
  });

  test('nothing that cannot be seen survives', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(safeText(text)).not.toMatch(HIDDEN);
      }),
      RUNS,
    );
  });

  test('it never exceeds its length, whatever goes in', () => {
    fc.assert(
      fc.property(anyText, anyLength, (text, max) => {
        expect(Array.from(safeText(text, max)).length).toBeLessThanOrEqual(max);
      }),
      RUNS,
    );
  });

  test('doing it twice changes nothing more', () => {
    fc.assert(
      fc.property(anyText, anyLength, (text, max) => {
        const once = safeText(text, max);
        expect(safeText(once, max)).toBe(once);
      }),
      RUNS,
    );
  });

  test('it is cut between what the eye sees as characters', () => {
    expect(safeText('👩‍💻👩‍💻👩‍💻', 8)).toBe('👩‍💻👩‍💻…');
    expect(safeText('e\u0301e\u0301e\u0301', 4)).toBe('e\u0301…');
    expect(safeText('👩‍👩‍👧‍👧', 3)).toBe('👩…');
  });

  test('half a secret at the end of what is looked at is not shown', () => {
    const text = `done ${'\u200b'.repeat(1580)}sk-abcdefghijklmnopqrstuvwxyz`;
    expect(safeText(text)).toBe('done…');
    expect(safeText('a'.repeat(10_000))).toBe(`${'a'.repeat(199)}…`);
  });
});

describe('time', () => {
  const HOSTILE = [
    PIECES,
    [
      'password',
      'Bearer aaaaaa',
      'eyJaaaaaa.',
      'eyJaaaaaa-',
      '4-',
      '41 ',
      'a://',
      '--x',
      '-----BEGIN PRIVATE KEY-----',
    ],
    [
      '\u001b]',
      '\u0090',
      '\u001b[0',
      'token="\\',
      '"\\"',
      'aaaa',
      '\u0301',
      'SG.aaaaaaaaaaaaaaaaa.',
      '123:AA',
    ],
  ].flat();

  /** What takes the square of it would take minutes. */
  const CHARS = 100_000;
  const MS_MAX = 2_000;

  test.each(HOSTILE.map((piece) => [JSON.stringify(piece), piece] as const))(
    'a text of %s over and over is no work',
    (_shown, piece) => {
      const text = piece.repeat(Math.ceil(CHARS / piece.length));
      const start = systemClock.monotonic();
      maskSecrets(stripControls(text));
      expect(systemClock.monotonic() - start).toBeLessThan(MS_MAX);
    },
  );
});

test('every rule has a name of its own, fit for a label', () => {
  const names = REDACTION_RULES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z][a-z-]*$/);
});
