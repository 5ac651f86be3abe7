import { isId } from '../../kernel/ids.ts';

/** What we answer for ourselves under `resources/read`; nothing of it goes to an upstream. */
const OWN_SCHEME = 'longcall:';
const PREFIX = 'longcall://artifacts/';

/** Bytes with both their ends. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What a URI names: an artifact, or a piece of it. */
export interface ArtifactReference {
  readonly id: string;
  readonly range?: ByteRange;
}

export const artifactUri = (id: string): string => `${PREFIX}${id}`;

/** Whether it is ours to answer, whatever it names. */
export const isOwnUri = (uri: string): boolean => uri.toLowerCase().startsWith(OWN_SCHEME);

const REFERENCE =
  /^longcall:\/\/artifacts\/(?<id>[\w-]{1,64})(?:\?bytes=(?<start>\d{1,15})-(?<end>\d{1,15}))?$/;

/** `longcall://artifacts/<id>`, or with `?bytes=<first>-<last>` a piece of it; nothing for everything else. */
export function readArtifactUri(uri: string): ArtifactReference | undefined {
  const { id = '', start, end } = REFERENCE.exec(uri)?.groups ?? {};
  if (!isId('artifact', id)) return undefined;
  if (start === undefined || end === undefined) return { id };
  const range = { start: Number(start), end: Number(end) };
  return range.start <= range.end ? { id, range } : undefined;
}
