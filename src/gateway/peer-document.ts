import { createHash } from 'node:crypto';
import { isJsonObject, objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import type { Logger } from '../kernel/logger.ts';
import { safeText } from '../kernel/text.ts';
import { TASKS_EXTENSION } from '../protocol/names.ts';
import type { PeerTarget } from '../requestor/connect.ts';
import { generationOf, type Connection } from '../requestor/connection.ts';
import { SERVER_INFO_META } from '../requestor/envelope.ts';
import type { Verdict } from '../requestor/handshake.ts';
import { WIRE_KINDS, type WireKind } from '../requestor/wire.ts';
import { headerParamsOf } from '../requestor/header-params.ts';
import { problemOf, readPages } from '../requestor/pages.ts';
import { TASK_SUPPORTS, type TaskSupport } from '../requestor/tool-call.ts';
import { LongcallError } from '../kernel/errors.ts';

const DOCUMENT_VERSION = 1;
const READ_MS_MAX = 30_000;

/** The evidence of what an upstream can do, taken in one session or by one discover (unknown members kept). */
export interface PeerDocument {
  readonly protocolVersion: string;
  readonly transport: WireKind;
  readonly verdict: Verdict;
  readonly serverInfo: JsonObject;
  readonly instructions?: string;
  readonly capabilities: JsonObject;
  /** Definitions as listed, under the upstream's own names. */
  readonly tools: readonly JsonObject[];
}

/** Takes the evidence over a connection. Rejects where the upstream does not answer for itself. */
export async function takeDocument(connection: Connection, logger: Logger): Promise<PeerDocument> {
  const said = await ask(connection);
  const tools =
    objectAt(said.capabilities, 'tools') === undefined ? [] : await readTools(connection, logger);
  return { ...said, transport: connection.transport, tools };
}

type Said = Omit<PeerDocument, 'transport' | 'tools'>;

/** 2026-07-28 answers anew; before it the handshake has said everything. */
async function ask(connection: Connection): Promise<Said> {
  const { hello } = connection;
  if (connection.generation !== '2026-07-28') return hello;
  const answer = await connection.request({
    method: 'server/discover',
    params: {},
    timeoutMs: READ_MS_MAX,
  });
  if (answer.kind !== 'result') throw unreadable('server/discover', problemOf(answer));
  const { result } = answer;
  const instructions = stringAt(result, 'instructions');
  return {
    protocolVersion: hello.protocolVersion,
    verdict: { kind: 'modern', discover: result },
    serverInfo: objectAt(objectAt(result, '_meta'), SERVER_INFO_META) ?? {},
    ...(instructions === undefined ? {} : { instructions }),
    capabilities: objectAt(result, 'capabilities') ?? {},
  };
}

async function readTools(connection: Connection, logger: Logger): Promise<readonly JsonObject[]> {
  const pages = await readPages(connection, {
    method: 'tools/list',
    member: 'tools',
    timeoutMs: READ_MS_MAX,
  });
  if (pages.kind === 'failed') throw unreadable('tools/list', pages.problem);
  const known = new Set<string>();
  return pages.items.filter((tool) => {
    const name = stringAt(tool, 'name');
    if (name === undefined || known.has(name)) return false;
    known.add(name);
    return isCallable(connection, tool, logger);
  });
}

/** A client must leave out tools whose header annotations are wrong (G2-152); they count over HTTP only. */
function isCallable(connection: Connection, tool: JsonObject, logger: Logger): boolean {
  if (connection.generation !== '2026-07-28' || connection.transport !== 'http') return true;
  const headers = headerParamsOf(objectAt(tool, 'inputSchema'));
  if (headers.kind === 'valid') return true;
  logger.warn('upstream.tool_left_out', {
    tool: safeText(stringAt(tool, 'name') ?? ''),
    problem: headers.problem,
  });
  return false;
}

const unreadable = (method: string, problem: string): LongcallError =>
  new LongcallError('LONGCALL_UPSTREAM_UNREACHABLE', `${method} failed: ${problem}`);

/** Which kind of tasks of its own an upstream has. */
export function ownTasksOf(document: Pick<PeerDocument, 'protocolVersion' | 'capabilities'>) {
  const generation = generationOf(document.protocolVersion);
  const { capabilities } = document;
  if (generation === '2026-07-28')
    return objectAt(objectAt(capabilities, 'extensions'), TASKS_EXTENSION) ? '2026-07-28' : 'none';
  const calls = objectAt(
    objectAt(objectAt(objectAt(capabilities, 'tasks'), 'requests'), 'tools'),
    'call',
  );
  return generation === '2025-11-25' && calls ? '2025-11-25' : 'none';
}

/** What the upstream says about tasks for one of its tools; absent where it has none of that kind. */
export function taskSupportOf(document: PeerDocument, tool: JsonObject): TaskSupport | undefined {
  if (ownTasksOf(document) !== '2025-11-25') return undefined;
  const said = stringAt(objectAt(tool, 'execution'), 'taskSupport');
  return TASK_SUPPORTS.find((support) => support === said) ?? 'forbidden';
}

/** Tells whether stored evidence is about this very upstream; the configuration may have changed since. */
export function fingerprintOf(endpoint: PeerTarget): string {
  const where = placeOf(endpoint);
  return createHash('sha256').update(`${endpoint.kind}\u0000${where}`).digest('base64url');
}

/** A server in this process has no address: it is the only one. */
function placeOf(endpoint: PeerTarget): string {
  if (endpoint.kind === 'in-process') return '';
  return endpoint.kind === 'http'
    ? endpoint.url
    : [endpoint.command, ...endpoint.args].join('\u0000');
}

export function storeDocument(document: PeerDocument, endpoint: PeerTarget): JsonObject {
  return {
    version: DOCUMENT_VERSION,
    endpoint: fingerprintOf(endpoint),
    ...document,
    verdict: { ...document.verdict },
  };
}

/** The document as it was stored, or nothing where it is another version's or another endpoint's. */
export function loadDocument(stored: JsonObject, endpoint: PeerTarget): PeerDocument | undefined {
  const { version, endpoint: fingerprint, tools } = stored;
  const transport = WIRE_KINDS.find((kind) => kind === stored['transport']);
  const verdict = loadVerdict(objectAt(stored, 'verdict'));
  const protocolVersion = stringAt(stored, 'protocolVersion');
  const instructions = stringAt(stored, 'instructions');
  const known = version === DOCUMENT_VERSION && fingerprint === fingerprintOf(endpoint);
  if (!known || !verdict || protocolVersion === undefined || !Array.isArray(tools))
    return undefined;
  if (transport === undefined) return undefined;
  return {
    protocolVersion,
    transport,
    verdict,
    serverInfo: objectAt(stored, 'serverInfo') ?? {},
    ...(instructions === undefined ? {} : { instructions }),
    capabilities: objectAt(stored, 'capabilities') ?? {},
    tools: tools.filter(isJsonObject),
  };
}

function loadVerdict(stored: JsonObject | undefined): Verdict | undefined {
  if (stored?.['kind'] === 'legacy') return { kind: 'legacy' };
  const discover = objectAt(stored, 'discover');
  return stored?.['kind'] === 'modern' && discover ? { kind: 'modern', discover } : undefined;
}
