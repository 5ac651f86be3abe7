import { isJsonObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { quotedFromPeer } from '../../kernel/quote.ts';
import type { Artifact } from '../../stores/artifacts.ts';
import { artifactUri } from './artifact-uri.ts';

/** How much of a text is shown beside the link to it, in characters. */
export const PREVIEW_CHARS = 1_000;

/** `20.0 MiB (20,971,520 bytes)`, for people and models. */
export function shownBytes(bytes: number): string {
  const exact = `${bytes.toLocaleString('en-US')} bytes`;
  if (bytes < 1024) return exact;
  const [size, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB'];
  return `${size.toFixed(1)} ${unit} (${exact})`;
}

/** The block that stands for an artifact (2025-06-18 and later, `ResourceLink`). */
export function linkBlock(artifact: Artifact, block: Json = {}): JsonObject {
  const { annotations, _meta } = isJsonObject(block) ? block : {};
  return {
    type: 'resource_link',
    uri: artifactUri(artifact.id),
    name: artifact.name,
    description: `Kept whole by longcall: ${shownBytes(artifact.bytes)}, SHA-256 ${artifact.sha256}`,
    mimeType: artifact.mediaType,
    size: artifact.bytes,
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

export interface Preview {
  /** The text that was taken out. */
  readonly text: string;
  /** Whose text it is. */
  readonly peer: string;
  readonly chars: number;
}

/** Where the whole is. The path is that of this server's HTTP address, and the same credential opens it. */
export const whereWords = ({ id, bytes }: Artifact): string =>
  `It is kept whole (${shownBytes(bytes)}) as ${artifactUri(id)}: read it with resources/read, or over HTTP at ` +
  `/artifacts/${id} of this server with the same credential.`;

/** How a text begins that stands elsewhere, marked as what its maker said (decision 13). */
export const previewBlock = (artifact: Artifact, { text, peer, chars }: Preview): JsonObject => ({
  type: 'text',
  text:
    `This text is too long to be shown here. ${whereWords(artifact)} It begins as follows. ` +
    quotedFromPeer(text, peer, chars),
});
