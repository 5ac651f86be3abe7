import { isJsonObject, stringAt, type Json, type JsonObject } from '../../kernel/json.ts';

/** What one answer to a model may carry of a result, in bytes: hosts cut at 25 KB, and our own words need some too. */
export const ANSWER_BYTES_MAX = 24_000;
/** One part of a larger one; beside it there are links to the whole. */
const PART_BYTES_MAX = 21_000;

const blocksOf = ({ content }: JsonObject): readonly Json[] =>
  Array.isArray(content) ? content : [];

/** The size of what a host may show to a model. */
export const shownBytes = ({ content = [], structuredContent = null }: JsonObject): number =>
  Buffer.byteLength(JSON.stringify(content)) +
  (structuredContent === null ? 0 : Buffer.byteLength(JSON.stringify(structuredContent)));

const describedSize = (data: string): string => `${Math.floor((data.length * 3) / 4)} bytes`;

/** A block as text. Bytes are named and not shown: base64 in pieces is of no use to anybody. */
function textOfBlock(block: Json): string {
  if (!isJsonObject(block)) return JSON.stringify(block);
  const type = stringAt(block, 'type') ?? 'block';
  if (type === 'text') return stringAt(block, 'text') ?? '';
  const data = stringAt(block, 'data');
  if (data !== undefined)
    return `[${type}, ${stringAt(block, 'mimeType') ?? 'no type'}, ${describedSize(data)}]`;
  const resource = isJsonObject(block['resource']) ? block['resource'] : undefined;
  const blob = stringAt(resource, 'blob');
  if (blob !== undefined)
    return `[resource ${stringAt(resource, 'uri') ?? ''}, ${describedSize(blob)}]`;
  return stringAt(resource, 'text') ?? JSON.stringify(block);
}

/** A result as text that can be read in parts. What is structured comes as JSON where no text says it already. */
export function textOfResult(result: JsonObject): string {
  const texts = blocksOf(result).map(textOfBlock);
  const { structuredContent } = result;
  if (structuredContent === undefined) return texts.join('\n\n');
  const json = JSON.stringify(structuredContent, undefined, 1);
  return isSaid(texts, structuredContent) ? texts.join('\n\n') : [...texts, json].join('\n\n');
}

/** Servers repeat what is structured as text, for hosts that know only text. */
function isSaid(texts: readonly string[], structured: Json): boolean {
  const plain = JSON.stringify(structured);
  return texts.some((text) => {
    try {
      return JSON.stringify(JSON.parse(text)) === plain;
    } catch {
      return false;
    }
  });
}

export interface TextPart {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  readonly of: number;
  /** Of the whole. */
  readonly bytes: number;
}

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/** Where each part ends: at most `maxBytes` after the one before, and never inside a character. */
function endsOf(bytes: Buffer, maxBytes: number): readonly number[] {
  const ends: number[] = [];
  for (let end = 0; end < bytes.length; ends.push(end)) {
    end = Math.min(bytes.length, end + maxBytes);
    while (end < bytes.length && isContinuation(bytes[end])) end -= 1;
  }
  return ends;
}

/** One part of a text; nothing where it has no such part. An empty text has one. */
export function partOf(
  text: string,
  number: number,
  maxBytes: number = PART_BYTES_MAX,
): TextPart | undefined {
  const bytes = Buffer.from(text);
  const ends = bytes.length === 0 ? [0] : endsOf(bytes, maxBytes);
  const end = ends[number - 1];
  if (end === undefined) return undefined;
  const start = ends[number - 2] ?? 0;
  const slice = bytes.subarray(start, end).toString();
  return { text: slice, number, of: ends.length, bytes: bytes.length };
}
