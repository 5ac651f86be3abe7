import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements/verifies.ts';
import { decodeHeader } from './header-values.ts';

const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

verifies('G2-151', 'encoded values are decoded, everything else is literal', () => {
  expect(decodeHeader(encoded('zürich 東京'))).toBe('zürich 東京');
  expect(decodeHeader(encoded(''))).toBe('');
  expect(decodeHeader('  plain\t')).toBe('plain');
  expect(decodeHeader('=?base64?SGVsbG8=')).toBe('=?base64?SGVsbG8=');
  expect(decodeHeader('SGVsbG8=?=')).toBe('SGVsbG8=?=');
});

test.each([['=?base64?SGVsbG8?='], ['=?base64?SGVs!!!bG8=?='], ['=?base64?/////w==?=']])(
  '%s stands for nothing',
  (value) => {
    expect(decodeHeader(value)).toBeUndefined();
  },
);
