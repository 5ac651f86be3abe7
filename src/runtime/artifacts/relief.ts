import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Task } from '../../protocol/model.ts';
import { contentOf, fileNameOf, payloadBytes } from './block-content.ts';
import type { ArtifactKeeper, ArtifactPolicy } from './keeper.ts';
import { linkBlock, PREVIEW_CHARS, previewBlock } from './links.ts';

export interface Relieved {
  readonly result: JsonObject;
  /** Artifacts that were made for it, and are nobody's if it is not kept. */
  readonly fresh: readonly string[];
  /** Why something large stayed where it was, if it did. */
  readonly full?: keyof ArtifactPolicy;
}

export interface ReliefOptions {
  readonly keeper: ArtifactKeeper;
  readonly task: Task;
  readonly result: JsonObject;
  /** What a block may carry, in bytes. */
  readonly above: number;
}

/**
 * A result whose large blocks have become links to artifacts. `structuredContent` stays as it is: a schema may promise
 * it (decision 12). What cannot be given back exactly, or finds no room, stays too.
 */
export async function relieve({ keeper, task, result, above }: ReliefOptions): Promise<Relieved> {
  const content: readonly Json[] = Array.isArray(result['content']) ? result['content'] : [];
  const blocks: Json[] = [];
  const fresh: string[] = [];
  let full: keyof ArtifactPolicy | undefined;
  for (const [place, block] of content.entries()) {
    const large = payloadBytes(block) > above ? contentOf(block) : undefined;
    if (!large) {
      blocks.push(block);
      continue;
    }
    const { bytes, mediaType, text } = large;
    const name = fileNameOf(task.tool, place, large);
    const kept = await keeper.keep({ task, name, mediaType, bytes });
    if (kept.kind === 'full') {
      full = kept.limit;
      blocks.push(block);
      continue;
    }
    if (kept.fresh) fresh.push(kept.artifact.id);
    blocks.push(linkBlock(kept.artifact, block));
    if (text === undefined) continue;
    blocks.push(previewBlock(kept.artifact, { text, peer: task.upstream, chars: PREVIEW_CHARS }));
  }
  return { result: { ...result, content: blocks }, fresh, ...(full === undefined ? {} : { full }) };
}
