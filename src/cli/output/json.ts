/** DEL, C1 controls, bidi and zero-width characters: legal in JSON, but a terminal or an eye may be misled. */
const TRICKY = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const escapeTricky = (json: string): string =>
  json.replace(TRICKY, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** One document, ended by a line end; the same value for any parser. `pretty` for people. */
export function jsonText(value: unknown, pretty: boolean): string {
  return `${escapeTricky(JSON.stringify(value, undefined, pretty ? 2 : undefined))}\n`;
}
