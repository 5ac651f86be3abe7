import { hasScope } from '../../identity/permissions.ts';
import type { JsonObject } from '../../kernel/json.ts';
import {
  artifactUri,
  isOwnUri,
  readArtifactUri,
  type ArtifactReference,
} from '../../runtime/artifacts/artifact-uri.ts';
import type { OpenedArtifact } from '../../runtime/artifacts/keeper.ts';
import { bytesOf, sizeOfPiece, textOf } from '../../runtime/artifacts/named-content.ts';
import { RPC_CODES } from '../../protocol/names.ts';
import { RpcFailure } from '../../runtime/surface.ts';
import type { RequestSite } from './call/request-site.ts';
import { scopeMissing } from './failures.ts';

/** What one answer of `resources/read` carries at most. Larger artifacts are read in pieces, or over HTTP. */
export const READ_BYTES_MAX = 8 * 1024 ** 2;
const RESOURCE_NOT_FOUND = -32_002;

/** One answer for unknown, expired and foreign ones alike, down to the byte. */
const noSuchArtifact = (): RpcFailure =>
  new RpcFailure(RESOURCE_NOT_FOUND, 'no such artifact: it is unknown, or has expired');

function tooLarge({ artifact }: OpenedArtifact): RpcFailure {
  const { id, bytes } = artifact;
  const piece = `${artifactUri(id)}?bytes=0-${READ_BYTES_MAX - 1}`;
  return new RpcFailure(
    RPC_CODES.invalidParams,
    `the artifact has ${bytes} bytes, and one answer carries at most ${READ_BYTES_MAX}: read it over HTTP at ` +
      `/artifacts/${id} with the same credential, or in pieces such as ${piece}`,
    { reason: 'artifact_too_large', bytes, maxBytes: READ_BYTES_MAX },
  );
}

async function contentsOf(
  uri: string,
  opened: OpenedArtifact,
  { range }: ArtifactReference,
): Promise<JsonObject> {
  const bytes = await bytesOf(opened, range);
  if (!bytes) throw noSuchArtifact();
  const { mediaType: mimeType } = opened.artifact;
  const text = textOf(bytes, mimeType);
  const content = text === undefined ? { blob: bytes.toString('base64') } : { text };
  return { contents: [{ uri, mimeType, ...content }] };
}

async function readArtifact({ face, principal }: RequestSite, uri: string): Promise<JsonObject> {
  if (!hasScope(principal, 'task.result')) throw scopeMissing('task.result');
  const reference = readArtifactUri(uri);
  const opened = reference && (await face.receiver.openArtifact(principal, reference.id));
  if (!reference || !opened) throw noSuchArtifact();
  if (sizeOfPiece(opened.artifact.bytes, reference.range) > READ_BYTES_MAX) throw tooLarge(opened);
  return contentsOf(uri, opened, reference);
}

/** Lists of resources that nobody has here: we have the capability for our own, which are in no list. */
const EMPTY_LISTS: Readonly<Record<string, JsonObject | undefined>> = {
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
};

/** Artifacts are resources, whether an upstream has any or not. */
export const withOwnResources = (capabilities: JsonObject): JsonObject => ({
  resources: {},
  ...capabilities,
});

/** Our own answer to a request about resources; nothing where it is the upstreams'. */
export function answerOwnResources(
  site: RequestSite,
  method: string,
): Promise<JsonObject> | undefined {
  const { uri } = site.params;
  if (method === 'resources/read' && typeof uri === 'string' && isOwnUri(uri))
    return readArtifact(site, uri);
  const empty = EMPTY_LISTS[method];
  const { capabilities } = site.face.surface.info();
  return empty && capabilities['resources'] === undefined ? Promise.resolve(empty) : undefined;
}
