import { objectAt, type Json, type JsonObject } from '../../kernel/json.ts';
import { expiresAt, type Task } from '../../protocol/model.ts';
import type { ServedTool } from '../tool.ts';
import { isOwnUri, readArtifactUri, type ByteRange } from './artifact-uri.ts';
import type { ArtifactKeeper, OpenedArtifact } from './keeper.ts';
import { isJsonType, isTextType } from './media-type.ts';

/** Why a call cannot have what it names. Nothing was sent. */
export interface Unnamed {
  readonly argument: string;
  readonly problem: string;
}

export type NamedContent =
  | { readonly kind: 'arguments'; readonly arguments: JsonObject }
  | ({ readonly kind: 'unnamed' } & Unnamed);

export interface NamingOptions {
  readonly keeper: ArtifactKeeper | undefined;
  readonly task: Task;
  readonly tool: Pick<ServedTool, 'artifactArguments' | 'definition'>;
  readonly arguments: JsonObject;
  /** Of all contents together. */
  readonly bytesMax: number;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How many bytes that is, of an artifact or of a piece of it. */
export function sizeOfPiece(bytes: number, range?: ByteRange): number {
  return range ? Math.max(0, Math.min(range.end, bytes - 1) - range.start + 1) : bytes;
}

/** All bytes of an artifact, or of a piece; nothing where the content is shorter than its row says. */
export async function bytesOf(
  { artifact, read }: OpenedArtifact,
  range?: ByteRange,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of read(range)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return bytes.length === sizeOfPiece(artifact.bytes, range) ? bytes : undefined;
}

/** Bytes as text, where they are that; nothing where they only say so. */
export function textOf(bytes: Uint8Array, mediaType: string): string | undefined {
  if (!isTextType(mediaType)) return undefined;
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What an argument gets: JSON where its schema wants something structured, else text, else base64. */
function valueFor(bytes: Buffer, mediaType: string, schema: JsonObject | undefined): Json {
  const text = textOf(bytes, mediaType);
  if (text === undefined) return bytes.toString('base64');
  const wantsJson = schema?.['type'] === 'object' || schema?.['type'] === 'array';
  if (!wantsJson || !isJsonType(mediaType)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

const unnamed = (argument: string, problem: string): NamedContent => ({
  kind: 'unnamed',
  argument,
  problem,
});

/**
 * Puts the content of artifacts in the place of arguments that name them, asked for again in the name of the task's
 * owner (Z2). Only arguments that the policy lists are looked at; the stored request keeps the name.
 */
export async function nameContent(options: NamingOptions): Promise<NamedContent> {
  const { keeper, task, tool, bytesMax } = options;
  const filled: Record<string, Json | undefined> = { ...options.arguments };
  const schemas = objectAt(objectAt(tool.definition, 'inputSchema'), 'properties');
  let left = bytesMax;
  for (const argument of tool.artifactArguments ?? []) {
    const value = filled[argument];
    if (typeof value !== 'string' || !isOwnUri(value)) continue;
    const reference = readArtifactUri(value);
    const opened =
      reference &&
      (await keeper?.openUntil(
        { owner: task.owner, tenant: task.tenant },
        reference.id,
        expiresAt(task),
      ));
    if (!opened) return unnamed(argument, 'no such artifact: it is unknown, or has expired');
    const { mediaType } = opened.artifact;
    const size = sizeOfPiece(opened.artifact.bytes, reference.range);
    if (size > left)
      return unnamed(
        argument,
        `the artifact has ${size} bytes, more than the ${bytesMax} that one call may carry`,
      );
    left -= size;
    // A call whose artifact cannot be read ends here: nothing was sent, and another attempt would read no better.
    const bytes = await bytesOf(opened, reference.range).catch(() => undefined);
    if (!bytes) return unnamed(argument, 'the content of the artifact is damaged');
    filled[argument] = valueFor(bytes, mediaType, objectAt(schemas, argument));
  }
  return { kind: 'arguments', arguments: filled };
}
