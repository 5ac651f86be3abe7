/** What the server of these tests answers, so that a test can say it again and compare. */

const LINE = 'row 0123456789 ä 🙂 "quoted" \\ back ';

/** Text of exactly so many bytes in UTF-8. */
export function textOf(bytes: number): string {
  const times = Math.floor(bytes / Buffer.byteLength(LINE));
  const text = LINE.repeat(times);
  return text + '.'.repeat(bytes - Buffer.byteLength(text));
}

/** A length that divides no power of two, so that pieces that were swapped are told apart. */
const PATTERN = Uint8Array.from({ length: 65_521 }, (_, at) => (at * 7 + (at >> 8)) % 256);

export const bytesOf = (bytes: number): Buffer => Buffer.alloc(bytes, PATTERN);

/** A structured result of about so many bytes of JSON. */
export const rowsOf = (bytes: number): { readonly rows: readonly object[] } => ({
  rows: Array.from({ length: Math.ceil(bytes / 30) }, (_, at) => ({ at, name: `name of ${at}` })),
});
