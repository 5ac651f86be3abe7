import { isJsonObject, objectAt, stringAt, type Json, type JsonObject } from '../../kernel/json.ts';
import { extensionOf, mediaTypeOf, TEXT_PLAIN, utf8TypeOf } from './media-type.ts';

/** What an artifact would hold of a content block. */
export interface BlockContent {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** The name that the block itself gives, safe for a file. */
  readonly name?: string;
  /** Where it is text: for a preview. */
  readonly text?: string;
}

/** Bytes of a string in base64, if it is exactly how they are written: an artifact gives back what was produced. */
function exactBytes(base64: string): Uint8Array | undefined {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : undefined;
}

const textContent = (text: string, mediaType: string): BlockContent | undefined =>
  text.isWellFormed() ? { bytes: Buffer.from(text), mediaType, text } : undefined;

function binaryContent(base64: string, said: Json | undefined): BlockContent | undefined {
  const bytes = exactBytes(base64);
  return bytes && { bytes, mediaType: mediaTypeOf(said) };
}

const NAME_CHARS_MAX = 80;

/** A name that is one on every system: letters, digits, and a few marks inside. */
export function safeFileName(name: string): string {
  const plain = name.normalize('NFC').replaceAll(/[^\p{L}\p{N}._-]+/gu, '_');
  return Array.from(plain.replace(/^[._-]+/, ''))
    .slice(0, NAME_CHARS_MAX)
    .join('')
    .replace(/[._]+$/, '');
}

function nameInUri(uri: string | undefined): string {
  const path = (uri ?? '').split(/[?#]/, 1)[0] ?? '';
  const last = path.slice(path.lastIndexOf('/') + 1);
  try {
    return safeFileName(decodeURIComponent(last));
  } catch {
    return safeFileName(last);
  }
}

function resourceContent(resource: JsonObject): BlockContent | undefined {
  const [text, blob] = [stringAt(resource, 'text'), stringAt(resource, 'blob')];
  const said = resource['mimeType'];
  const content =
    text === undefined
      ? binaryContent(blob ?? '', said)
      : textContent(text, typeof said === 'string' ? utf8TypeOf(mediaTypeOf(said)) : TEXT_PLAIN);
  const name = nameInUri(stringAt(resource, 'uri'));
  return content && (name === '' ? content : { ...content, name });
}

/** What of a block can be kept apart; nothing where it is no known kind, or could not be given back exactly. */
export function contentOf(block: Json): BlockContent | undefined {
  if (!isJsonObject(block)) return undefined;
  const type = stringAt(block, 'type');
  if (type === 'text') return textContent(stringAt(block, 'text') ?? '', TEXT_PLAIN);
  if (type === 'resource') return resourceContent(objectAt(block, 'resource') ?? {});
  if (type !== 'image' && type !== 'audio') return undefined;
  return binaryContent(stringAt(block, 'data') ?? '', block['mimeType']);
}

/** About how many bytes a block carries, without decoding it. */
export function payloadBytes(block: Json): number {
  if (!isJsonObject(block)) return 0;
  const resource = objectAt(block, 'resource');
  const base64 = stringAt(block, 'data') ?? stringAt(resource, 'blob');
  if (base64 !== undefined) return Math.floor((base64.length * 3) / 4);
  return Buffer.byteLength(stringAt(block, 'text') ?? stringAt(resource, 'text') ?? '');
}

/** What a file with this content of a tool is called: as the block says, or by tool, place and kind. */
export function fileNameOf(tool: string, place: number, { name, mediaType }: BlockContent): string {
  if (name !== undefined) return name;
  const stem = safeFileName(tool) || 'result';
  return `${stem}${place === 0 ? '' : `-${place + 1}`}${extensionOf(mediaType)}`;
}
