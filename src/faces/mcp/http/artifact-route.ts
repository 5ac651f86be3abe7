import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasScope } from '../../../identity/permissions.ts';
import type { Principal } from '../../../identity/principal.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../kernel/errors.ts';
import type { ByteRange } from '../../../runtime/artifacts/artifact-uri.ts';
import type { OpenedArtifact } from '../../../runtime/artifacts/keeper.ts';
import { sizeOfPiece } from '../../../runtime/artifacts/named-content.ts';
import type { Receiver } from '../../../runtime/receiver.ts';
import { sendJson } from './answer.ts';
import { readRange } from './byte-range.ts';

/** Where artifacts are read over HTTP, beside `/mcp`. */
export const ARTIFACTS_PATH = '/artifacts/';

type Artifact = OpenedArtifact['artifact'];

export interface ArtifactVisit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Whom the caller has proved to be; host and origin were looked at before. */
  readonly principal: Principal;
}

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Not told apart: whoever holds an id of somebody else's learns nothing about it (T13). */
const UNKNOWN: Refusal = {
  status: 404,
  code: 'LONGCALL_ARTIFACT_UNKNOWN',
  message: 'no such artifact: it is unknown, or has expired',
};

function refuse(res: ServerResponse, { status, code, message, headers }: Refusal): void {
  const { retryable } = ERROR_CATALOGUE[code];
  void sendJson(res, { error: { code, message, hint: null, retryable } }, { status, headers });
}

const etagOf = ({ sha256 }: Artifact): string => `"${sha256}"`;

/** A name that no header and no system can take for anything else, and the full one beside it (RFC 6266, RFC 8187). */
export function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._-]+/g, '_');
  const full = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain === '' ? 'artifact' : plain}"; filename*=UTF-8''${full}`;
}

/**
 * The content is a peer's: nothing in a browser may run it, show it in our name, guess what it is, or keep it. No CORS
 * header is ever sent.
 */
const headersOf = (artifact: Artifact): OutgoingHttpHeaders => ({
  'content-type': artifact.mediaType,
  'content-disposition': dispositionOf(artifact.name),
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
  vary: 'authorization',
  'accept-ranges': 'bytes',
  etag: etagOf(artifact),
  'repr-digest': `sha-256=:${Buffer.from(artifact.sha256, 'hex').toString('base64')}:`,
});

/**
 * `If-Range` with another version of the content, or with a date, means: then the whole (RFC 9110, 13.1.5). Ranges are
 * for GET alone (14.2).
 */
function wantedRange({ headers, method }: IncomingMessage, artifact: Artifact) {
  if (method !== 'GET') return 'whole';
  const ifRange = headers['if-range'];
  const counts = ifRange === undefined || ifRange === etagOf(artifact);
  return counts ? readRange(headers.range, artifact.bytes) : 'whole';
}

function isKnownAlready({ headers }: IncomingMessage, artifact: Artifact): boolean {
  const tags = (headers['if-none-match'] ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etagOf(artifact)) || tags.includes('*');
}

/** Says a piece at a time what there is; where there is less than was announced, the answer is cut off, not ended. */
async function stream(
  res: ServerResponse,
  opened: OpenedArtifact,
  range?: ByteRange,
): Promise<void> {
  let left = sizeOfPiece(opened.artifact.bytes, range);
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of opened.read(range)) {
      left -= chunk.byteLength;
      yield chunk;
    }
    if (left !== 0) throw new Error('the content of an artifact is damaged');
  };
  await pipeline(Readable.from(counted(), { objectMode: false }), res).catch(() => res.destroy());
}

async function send({ req, res }: ArtifactVisit, opened: OpenedArtifact): Promise<void> {
  const { artifact } = opened;
  const headers = headersOf(artifact);
  if (isKnownAlready(req, artifact)) return void res.writeHead(304, headers).end();
  const wanted = wantedRange(req, artifact);
  if (wanted === 'unsatisfiable') {
    const message = `the artifact has ${artifact.bytes} bytes, and none in that range`;
    const contentRange = { 'content-range': `bytes */${artifact.bytes}` };
    return refuse(res, { status: 416, code: 'LONGCALL_USAGE', message, headers: contentRange });
  }
  const range = wanted === 'whole' ? undefined : wanted;
  const partial = range && {
    'content-range': `bytes ${range.start}-${range.end}/${artifact.bytes}`,
  };
  const length = { 'content-length': sizeOfPiece(artifact.bytes, range) };
  res.writeHead(range ? 206 : 200, { ...headers, ...partial, ...length });
  if (req.method === 'HEAD') return void res.end();
  await stream(res, opened, range);
}

/** `GET` and `HEAD /artifacts/<id>`, with a bearer token of the same person as the call that made it. */
export async function serveArtifact(
  receiver: Pick<Receiver, 'openArtifact'>,
  visit: ArtifactVisit,
): Promise<void> {
  const { req, res, principal } = visit;
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    const message = 'artifacts are read with GET or HEAD';
    return refuse(res, {
      status: 405,
      code: 'LONGCALL_USAGE',
      message,
      headers: { allow: 'GET, HEAD' },
    });
  }
  if (!hasScope(principal, 'task.result')) {
    const message = 'the credential lacks the scope task.result';
    return refuse(res, { status: 403, code: 'LONGCALL_USAGE', message });
  }
  const [path = ''] = (req.url ?? '').split('?', 1);
  const opened = await receiver.openArtifact(principal, path.slice(ARTIFACTS_PATH.length));
  if (!opened) return refuse(res, UNKNOWN);
  await send(visit, opened);
}
