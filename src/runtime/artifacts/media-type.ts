/** A media type with its parameters, as far as it may stand in a header (RFC 9110, 8.3.1). */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(?: ?; ?[\w!#$&^.+-]{1,32}=[\w!#$&^.+-]{1,64}){0,4}$/;

export const TEXT_PLAIN = 'text/plain; charset=utf-8';
export const JSON_TYPE = 'application/json';
const UNKNOWN = 'application/octet-stream';

/** What a peer said of its bytes, if it can be believed to be a media type. */
export const mediaTypeOf = (said: unknown): string =>
  typeof said === 'string' && MEDIA_TYPE.test(said) ? said : UNKNOWN;

const CHARSET = /;\s?charset=([\w-]+)/i;

/** The type of text that is kept in UTF-8, whatever its maker read it from. */
export const utf8TypeOf = (mediaType: string): string =>
  mediaType.replace(CHARSET, '; charset=utf-8');

const essenceOf = (mediaType: string): string =>
  (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();

export const isJsonType = (mediaType: string): boolean =>
  /^application\/(?:json|[\w.-]+\+json)$/.test(essenceOf(mediaType));

/** Whether bytes of that type are text in UTF-8, so that they may travel as text. */
export function isTextType(mediaType: string): boolean {
  const charset = CHARSET.exec(mediaType)?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'us-ascii') return false;
  const essence = essenceOf(mediaType);
  return (
    essence.startsWith('text/') ||
    isJsonType(mediaType) ||
    /^application\/(?:xml|yaml|javascript|x-ndjson|[\w.-]+\+xml)$/.test(essence)
  );
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/xml': 'xml',
  'application/zip': 'zip',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/svg+xml': 'svg',
  'image/webp': 'webp',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
};

/** The usual ending of a file's name, with its dot; empty where there is none that is safe to say. */
export function extensionOf(mediaType: string): string {
  const extension = EXTENSIONS[essenceOf(mediaType)];
  return extension === undefined ? '' : `.${extension}`;
}
