import { validateHeaderValue } from 'node:http';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { contentOf } from './block-content.ts';

const textBlock = (mimeType: string): JsonObject => ({
  type: 'resource',
  resource: { uri: 'file:///out/rows.csv', mimeType, text: 'ä;ö' },
});

test.each(['text/plain\n;charset=utf-8', 'text/plain;\ncharset=utf-8', 'text/plain;\u2028a=b'])(
  'a media type that no header takes (%j) is none: the content is read all the same',
  (said) => {
    const { mediaType = '' } = contentOf(textBlock(said)) ?? {};
    expect(() => validateHeaderValue('content-type', mediaType)).not.toThrow();
    expect(mediaType).toBe('application/octet-stream');
  },
);

test.each([
  ['text/csv; charset=iso-8859-1', 'text/csv; charset=utf-8'],
  ['text/csv;charset=UTF-16', 'text/csv; charset=utf-8'],
  ['text/csv; charset=us-ascii; header=present', 'text/csv; charset=utf-8; header=present'],
  ['text/csv', 'text/csv'],
])('text is kept in UTF-8, and said to be that: %s becomes %s', (said, kept) => {
  const content = contentOf(textBlock(said));
  expect(content?.mediaType).toBe(kept);
  expect(Buffer.from(content?.bytes ?? []).toString('utf8')).toBe('ä;ö');
});
