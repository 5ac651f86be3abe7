import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { partOf, shownBytes, textOfResult } from './result-parts.ts';

const allParts = (text: string, maxBytes: number): readonly string[] => {
  const first = partOf(text, 1, maxBytes);
  const count = first?.of ?? 0;
  return Array.from({ length: count }, (_, at) => partOf(text, at + 1, maxBytes)?.text ?? '');
};

describe('parts of a text', () => {
  test('are together the whole, each within its size, and no character is cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 4, max: 40 }), (text, max) => {
        const whole = Buffer.from(text).toString(); // lone surrogates cannot be sent
        const parts = allParts(whole, max);
        expect(parts.join('')).toBe(whole);
        for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(max);
      }),
    );
  });

  test('there is one of an empty text, and none beyond the last', () => {
    expect(partOf('', 1)).toMatchObject({ text: '', of: 1, bytes: 0 });
    expect(partOf('abc', 2)).toBeUndefined();
    expect(partOf('abc', 0)).toBeUndefined();
  });
});

describe('a result as text', () => {
  test('has its texts, and names what is no text', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'two' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'AAAAAAAA' } },
      { type: 'resource_link', uri: 'file:///c', name: 'c' },
    ];
    expect(textOfResult({ content })).toBe(
      [
        'one',
        '[image, image/png, 3 bytes]',
        'two',
        '[resource file:///b, 6 bytes]',
        '{"type":"resource_link","uri":"file:///c","name":"c"}',
      ].join('\n\n'),
    );
  });

  test('has what is structured once, whether a text repeats it or not', () => {
    const structuredContent = { a: 1 };
    const repeated = { content: [{ type: 'text', text: '{ "a": 1 }' }], structuredContent };
    expect(textOfResult(repeated)).toBe('{ "a": 1 }');
    expect(textOfResult({ content: [], structuredContent })).toBe('{\n "a": 1\n}');
  });

  test('is measured by all that a host may show', () => {
    expect(shownBytes({ content: [], structuredContent: { a: 1 } })).toBe(9);
    expect(shownBytes({ content: [{ type: 'text', text: 'é' }] })).toBe(29);
  });
});
