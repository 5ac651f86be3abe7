import { expect, test } from 'vitest';
import { decodeListCursor, encodeListCursor } from './list-cursor.ts';

test('a place in a joined list survives the way to the caller and back', () => {
  for (const place of [{ upstream: 'a' }, { upstream: 'b', cursor: 'their “own” cursor' }])
    expect(decodeListCursor(encodeListCursor(place))).toEqual(place);
});

test.each([
  '',
  'nonsense',
  Buffer.from('7').toString('base64url'),
  Buffer.from('{"u":7}').toString('base64url'),
])('%j is no cursor of ours', (text) => {
  expect(decodeListCursor(text)).toBeUndefined();
});
