import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authentication } from '../../identity/authenticator.ts';
import type { Principal } from '../../identity/principal.ts';
import type { Json } from '../../kernel/json.ts';
import { RPC_CODES } from '../../protocol/names.ts';
import { createFace, type Face, type FaceOptions, type HttpFace } from './face.ts';
import { draining, errorOfThrown } from './failures.ts';
import { FACE_CODES } from './error-codes.ts';
import { createHttp2025, type Http2025 } from './generation-2025/http-2025.ts';
import { createSessionService } from './generation-2025/session-service.ts';
import { isSessionVersion } from './generation-2025/versions.ts';
import { hasEnvelope, VERSION_2026 } from './generation-2026/envelope.ts';
import { createHttp2026, type Http2026 } from './generation-2026/http-2026.ts';
import { createListens } from './generation-2026/listen.ts';
import { createModernService } from './generation-2026/modern-service.ts';
import { accept, refuse } from './http/answer.ts';
import { readBody } from './http/body.ts';
import { ARTIFACTS_PATH, serveArtifact } from './http/artifact-route.ts';
import { CONFIRM_PATH, serveConfirm } from './http/confirm-route.ts';
import { createHostGuard } from './http/host-guard.ts';
import { createOpenResponses } from './http/open-responses.ts';
import { createStandingAnswers } from './http/standing-answers.ts';
import { readJsonText } from './json-text.ts';
import { readMessage, requestIdOf, type RpcId, type RpcMessage } from './message.ts';
import type { ReadGate, TooManyReads } from './read-gate.ts';

const PATH = '/mcp';
const BATCH_MAX = 100;
const ALLOW = { allow: 'GET, POST, DELETE' };

interface Visit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly principal: Principal;
}

interface Generations {
  readonly reads: ReadGate;
  readonly http2025: Http2025;
  readonly http2026: Http2026;
}

const pathOf = ({ url = '' }: IncomingMessage): string | undefined => url.split('?', 1)[0];

/** A version header of 2026-07-28 or later, served here or not. */
function namesModern({ headers }: IncomingMessage): boolean {
  const version = headers['mcp-protocol-version'];
  return typeof version === 'string' && version >= VERSION_2026 && !isSessionVersion(version);
}

/** The body decides on the generation; the header only where the body says nothing (G2-179). */
const isModern = (message: RpcMessage, req: IncomingMessage): boolean =>
  (message.kind === 'request' || message.kind === 'notification') &&
  (hasEnvelope(message.params) || namesModern(req));

const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');

function challenge({ reason }: Extract<Authentication, { kind: 'denied' }>): string {
  return reason === 'missing'
    ? 'Bearer realm="longcall"'
    : 'Bearer realm="longcall", error="invalid_token"';
}

function reject(res: ServerResponse, status: number, message: string): void {
  refuse(res, { code: RPC_CODES.invalidRequest, message }, { status });
}

/**
 * The door: host and origin, then the token. They need no body, so that a stranger's is never parsed; for a message
 * that can be read the order of refusals is the same as if it had been parsed first (T25).
 */
function createDoor(
  face: Face,
): (req: IncomingMessage, res: ServerResponse) => Principal | undefined {
  const guard = createHostGuard(face.allowedHosts);
  return (req, res) => {
    const bad = guard(req);
    if (bad !== undefined) {
      const message = `${bad} is not allowed here; allowed hosts are set in listen.allowedHosts`;
      refuse(res, { code: FACE_CODES.forbidden, message }, { status: 403 });
      return undefined;
    }
    const authentication = face.authenticator.authenticate(req.headers.authorization, req);
    if (authentication.kind === 'principal') return authentication.principal;
    const message = `not authenticated: ${authentication.reason} credential`;
    const headers = { 'www-authenticate': challenge(authentication) };
    refuse(res, { code: RPC_CODES.invalidRequest, message }, { status: 401, headers });
    return undefined;
  };
}

/** Batches are of 2025-03-26 and older; a message of 2026-07-28 never travels in one. */
function serveBatch(
  { http2025, reads }: Generations,
  visit: Visit,
  values: readonly unknown[],
): void {
  if (values.length > BATCH_MAX)
    return reject(visit.res, 400, `a batch has at most ${BATCH_MAX} messages`);
  const messages = values.map(readMessage);
  if (messages.some((message) => isModern(message, visit.req)))
    return reject(visit.res, 400, `batches are no part of ${VERSION_2026}`);
  const tooMany = messages
    .filter((message) => message.kind === 'request')
    .map((request) => reads.refusal(visit.principal, request))
    .find((refusal) => refusal !== undefined);
  if (tooMany) return refuseRead(visit, null, tooMany);
  http2025.post(visit, messages, true);
}

/** Over HTTP who asks too often hears it as a status, which proxies and clients understand too (O1). */
function refuseRead(
  visit: Visit,
  id: RpcId | null,
  { failure, retryAfterSeconds }: TooManyReads,
): void {
  const { code, message, data } = failure;
  refuse(
    visit.res,
    { code, message, data: data as Json },
    { status: 429, id, headers: { 'retry-after': String(retryAfterSeconds) } },
  );
}

function serveMessage(generations: Generations, visit: Visit, value: unknown): void {
  const { http2025, http2026, reads } = generations;
  const message = readMessage(value);
  if (message.kind === 'invalid') {
    const error = {
      code: RPC_CODES.invalidRequest,
      message: `invalid request: ${message.problem}`,
    };
    return refuse(visit.res, error, { status: 400, id: message.id });
  }
  const tooMany = message.kind === 'request' && reads.refusal(visit.principal, message);
  if (tooMany) return refuseRead(visit, message.id, tooMany);
  if (!isModern(message, visit.req)) return http2025.post(visit, [message], false);
  if (message.kind === 'request') return http2026.post(visit, message);
  accept(visit.res); // no notification means anything over HTTP: closing the stream is the cancel (G2-92)
}

function serveText(generations: Generations, visit: Visit, text: string): void {
  const json = readJsonText(text);
  switch (json.kind) {
    case 'malformed':
      return refuse(
        visit.res,
        { code: RPC_CODES.parseError, message: 'the body is no JSON' },
        { status: 400 },
      );
    case 'unsafe':
      return refuse(
        visit.res,
        { code: RPC_CODES.invalidRequest, message: `the body is refused: ${json.problem}` },
        { status: 400, id: requestIdOf(json.value) },
      );
    case 'value':
      return Array.isArray(json.value)
        ? serveBatch(generations, visit, json.value)
        : serveMessage(generations, visit, json.value);
  }
}

async function servePost(face: Face, generations: Generations, visit: Visit): Promise<void> {
  const { req, res } = visit;
  if (!isJson(req)) return reject(res, 415, 'Content-Type must be application/json');
  const body = await readBody(req, face.maxBodyBytes);
  if (body.kind === 'text') return serveText(generations, visit, body.text);
  if (body.kind === 'unreadable')
    return refuse(
      res,
      { code: RPC_CODES.parseError, message: 'the body is no UTF-8 text' },
      { status: 400 },
    );
  const message = `the body is larger than ${face.maxBodyBytes} bytes`;
  // Without `connection: close`: a socket that is closed while its sender still writes takes the answer with it.
  refuse(res, { code: RPC_CODES.invalidRequest, message }, { status: 413 });
}

function serve(face: Face, generations: Generations, visit: Visit): Promise<void> | void {
  const { req, res } = visit;
  if (req.method === 'POST') return servePost(face, generations, visit);
  const isSessionMethod = req.method === 'GET' || req.method === 'DELETE';
  // GET and DELETE belong to sessions, which 2026-07-28 does not have (G2-156, G2-160).
  if (!isSessionMethod || namesModern(req))
    return refuse(
      res,
      { code: RPC_CODES.invalidRequest, message: 'method not allowed' },
      { status: 405, headers: isSessionMethod ? { allow: 'POST' } : ALLOW },
    );
  return req.method === 'GET'
    ? generations.http2025.get(visit)
    : generations.http2025.delete(visit);
}

/** Serves MCP over Streamable HTTP at `/mcp`, every generation on one URL. */
export function createHttpFace(options: FaceOptions): HttpFace {
  const face = createFace(options);
  const sessions = createSessionService(face);
  const modern = createModernService(face);
  const http2025 = createHttp2025(face, sessions);
  const http2026 = createHttp2026(face, modern, createListens(face));
  const admit = createDoor(face);
  const standing = createStandingAnswers(face.authenticator, face.clock);
  const open = createOpenResponses(face.clock);

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const path = pathOf(req);
    const isArtifact = path?.startsWith(ARTIFACTS_PATH) === true;
    if (path !== PATH && path !== CONFIRM_PATH && !isArtifact)
      return reject(res, 404, `nothing here; MCP is served at ${PATH}`);
    if (face.closing.aborted)
      return refuse(res, errorOfThrown(face, draining()), {
        status: 503,
        headers: { 'retry-after': '5' },
      });
    const principal = admit(req, res);
    if (!principal) return;
    if (path === CONFIRM_PATH) return serveConfirm(face.receiver, { req, res, principal });
    standing.enter({ req, res, principal });
    if (isArtifact) return serveArtifact(face.receiver, { req, res, principal });
    await serve(face, { reads: face.reads, http2025, http2026 }, { req, res, principal });
  };
  return {
    handler(req, res) {
      open.enter(res);
      handle(req, res).catch((error: unknown) =>
        refuse(res, errorOfThrown(face, error), { status: 500 }),
      );
    },
    async close() {
      face.close();
      modern.close();
      http2025.close();
      sessions.close();
      await open.closed();
      await face.handles.settled();
    },
  };
}
