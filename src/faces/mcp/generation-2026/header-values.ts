const SENTINEL = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The value that a header stands for (G2-151): white space around it does not count, `=?base64?…?=` is UTF-8 in
 * base64, everything else is literal. Nothing where the base64 is none.
 */
export function decodeHeader(raw: string): string | undefined {
  const value = raw.replace(/^[ \t]+|[ \t]+$/g, '');
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!BASE64.test(encoded)) return undefined;
  try {
    return UTF8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}
