import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineReader } from './line-reader.ts';

function read(chunks: readonly Buffer[], maxBytes: number) {
  const lines: string[] = [];
  const tooLong: { readonly excerpt: string; readonly bytes: number }[] = [];
  const reader = createLineReader({
    maxBytes,
    onLine: (text) => void lines.push(text),
    onTooLong: (excerpt, bytes) => void tooLong.push({ excerpt, bytes }),
  });
  for (const chunk of chunks) reader.push(chunk);
  return { lines, tooLong };
}

test('lines come out whole however the bytes are cut', () => {
  const line = fc
    .string({ unit: 'grapheme', maxLength: 20 })
    .filter((text) => !/[\r\n]/.test(text) && text !== '');
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), (texts, cuts) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
      const at = [
        0,
        ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b),
        bytes.length,
      ];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      expect(read(chunks, 1_000).lines).toEqual(texts);
    }),
  );
});

test('a line that is too long is reported with both of its ends, and the next one is read', () => {
  const long = `{"id":"first"${'x'.repeat(5_000)}"last"}`;
  const chunks = [long.slice(0, 10), long.slice(10, 3_000), long.slice(3_000), '\nshort\n'].map(
    (text) => Buffer.from(text),
  );
  const { lines, tooLong } = read(chunks, 100);
  expect(lines).toEqual(['short']);
  expect(tooLong).toHaveLength(1);
  expect(tooLong[0]?.bytes).toBe(long.length);
  expect(tooLong[0]?.excerpt.startsWith('{"id":"first"')).toBe(true);
  expect(tooLong[0]?.excerpt.endsWith('"last"}')).toBe(true);
});

test('a line of exactly the limit is read, empty ones and returns are not', () => {
  const { lines, tooLong } = read([Buffer.from(`${'x'.repeat(100)}\n\n\r\nab\r\n`)], 100);
  expect(lines).toEqual(['x'.repeat(100), '', 'ab']);
  expect(tooLong).toEqual([]);
});
