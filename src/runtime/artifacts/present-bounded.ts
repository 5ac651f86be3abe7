import { isJsonObject, stringAt, type Json, type JsonObject } from '../../kernel/json.ts';
import { quotedFromPeer } from '../../kernel/quote.ts';
import { safeText } from '../../kernel/text.ts';
import type { TaskView } from '../../protocol/codec.ts';
import type { RpcError, Task } from '../../protocol/model.ts';
import type { Artifact } from '../../stores/artifacts.ts';
import { artifactUri } from './artifact-uri.ts';
import { contentOf, fileNameOf, type BlockContent } from './block-content.ts';
import type { ArtifactKeeper } from './keeper.ts';
import { linkBlock, shownBytes, whereWords } from './links.ts';
import { JSON_TYPE } from './media-type.ts';

/** What hosts with little room take in one answer: they cut at 25 KB of text (Z2). */
export const INLINE_BYTES_MAX = 25_000;
const PREVIEW_CHARS_MAX = 8_000;
/** Less than that is not worth a link, which has about this size itself. */
const WORTH_BYTES = 1_500;
const ERROR_CHARS = 2_000;

const sizeOf = (value: Json | undefined): number =>
  value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));

/** A part of a result that may be replaced: a block by its place, or what is structured. */
interface Part {
  readonly place: number | 'structured';
  readonly size: number;
  readonly content: BlockContent;
}

interface Replaced extends Part {
  /** Absent where there was no room for it. */
  readonly artifact: Artifact | undefined;
}

const jsonContent = (value: Json, name: string): BlockContent => {
  const text = JSON.stringify(value, undefined, 1);
  return { bytes: Buffer.from(text), mediaType: JSON_TYPE, name, text };
};

const blocksOf = ({ content }: JsonObject): readonly Json[] =>
  Array.isArray(content) ? content : [];

/** What may be replaced, largest first. Blocks of kinds that we do not know go as the JSON that they are. */
function partsOf(result: JsonObject): readonly Part[] {
  const { structuredContent } = result;
  const values: readonly (readonly [Part['place'], Json])[] = [
    ...blocksOf(result).entries(),
    ...(structuredContent === undefined ? [] : ([['structured', structuredContent]] as const)),
  ];
  return values
    .map(([place, value]) => ({ place, value, size: sizeOf(value) }))
    .filter(({ size }) => size > WORTH_BYTES)
    .map(({ place, value, size }) => ({ place, size, content: partContent(place, value) }))
    .toSorted((a, b) => b.size - a.size);
}

function partContent(place: Part['place'], value: Json): BlockContent {
  if (place === 'structured') return jsonContent(value, 'structured.json');
  return contentOf(value) ?? jsonContent(value, `block-${place + 1}.json`);
}

export interface Presenting {
  readonly keeper: ArtifactKeeper | undefined;
  readonly task: Task;
  readonly maxBytes: number;
}

async function keepPart({ keeper, task }: Presenting, part: Part): Promise<Replaced> {
  const { content, place } = part;
  const name = fileNameOf(task.tool, place === 'structured' ? 0 : place, content);
  const kept = await keeper?.keep({
    task,
    name,
    mediaType: content.mediaType,
    bytes: content.bytes,
  });
  return { ...part, artifact: kept?.kind === 'kept' ? kept.artifact : undefined };
}

/** What stands in the place of a part: its link, words, and how it begins where it is text. */
function standIn(
  task: Task,
  { content, artifact }: Replaced,
  previewChars: number,
): readonly Json[] {
  const { text, mediaType, bytes } = content;
  const where = artifact
    ? whereWords(artifact)
    : 'There was no room to keep it as an artifact; the whole result can be read as that of the task ' +
      `${task.id}, in a host with Tasks.`;
  const what = `Not shown here: ${mediaType}, ${shownBytes(bytes.byteLength)}. ${where}`;
  const begins =
    text === undefined || previewChars === 0
      ? ''
      : ` It begins as follows. ${quotedFromPeer(text, task.upstream, previewChars)}`;
  return [...(artifact ? [linkBlock(artifact)] : []), { type: 'text', text: `${what}${begins}` }];
}

interface Shape {
  readonly result: JsonObject;
  readonly replaced: readonly Replaced[];
}

function withStandIns(task: Task, { result, replaced }: Shape, previewChars: number): JsonObject {
  const at = new Map(replaced.map((part) => [part.place, standIn(task, part, previewChars)]));
  const { structuredContent, ...rest } = result;
  const structured = at.get('structured');
  const content = blocksOf(result).flatMap((block, place) => at.get(place) ?? [block]);
  return {
    ...rest,
    content: [...content, ...(structured ?? [])],
    ...(structured || structuredContent === undefined ? {} : { structuredContent }),
  };
}

/** With as much of a preview as fits; nothing where it is too large even without one. */
function fitted({ task, maxBytes }: Presenting, shape: Shape): JsonObject | undefined {
  for (let chars = PREVIEW_CHARS_MAX; ; chars = chars < 100 ? 0 : Math.floor(chars / 2)) {
    const shown = withStandIns(task, shape, chars);
    if (sizeOf(shown) <= maxBytes) return shown;
    if (chars === 0) return undefined;
  }
}

async function boundedResult(presenting: Presenting, result: JsonObject): Promise<JsonObject> {
  const { task } = presenting;
  const replaced: Replaced[] = [];
  for (const part of partsOf(result)) {
    replaced.push(await keepPart(presenting, part));
    const shown = fitted(presenting, { result, replaced });
    if (shown) return shown;
  }
  // Many small parts, or one that is no part: the whole of it is one.
  const whole: Part = {
    place: 0,
    size: sizeOf(result),
    content: jsonContent(result, 'result.json'),
  };
  const failed = result['isError'] === true ? { isError: true } : {};
  const bare: JsonObject = { content: [null], ...failed };
  const kept = await keepPart(presenting, whole);
  const shape: Shape = { result: bare, replaced: [kept] };
  return fitted(presenting, shape) ?? withStandIns(task, shape, 0);
}

async function boundedError(presenting: Presenting, error: RpcError): Promise<RpcError> {
  const value: JsonObject = { ...error };
  const content = jsonContent(value, 'error.json');
  const { artifact } = await keepPart(presenting, { place: 0, size: sizeOf(value), content });
  const reason = isJsonObject(error.data) ? stringAt(error.data, 'reason') : undefined;
  return {
    code: error.code,
    message: safeText(error.message, ERROR_CHARS),
    data: {
      ...(reason === undefined ? {} : { reason: safeText(reason) }),
      ...(artifact ? { artifact: artifactUri(artifact.id) } : {}),
    },
  };
}

/**
 * The view with an outcome of at most `maxBytes` of JSON, for hosts that cut or choke on more (Z1, Z2): what is large
 * becomes links with previews, what is structured included, and the whole is kept in artifacts. The stored outcome
 * stays as it is.
 */
export async function presentBounded(presenting: Presenting, view: TaskView): Promise<TaskView> {
  const { outcome } = view;
  if (outcome?.kind === 'error') {
    const { error } = outcome;
    if (sizeOf({ ...error }) <= presenting.maxBytes) return view;
    return { ...view, outcome: { kind: 'error', error: await boundedError(presenting, error) } };
  }
  if (outcome?.kind !== 'result' || sizeOf(outcome.result) <= presenting.maxBytes) return view;
  const result = await boundedResult(presenting, outcome.result);
  return { ...view, outcome: { kind: 'result', result } };
}
