import { API_PATH, SCHEMA_VERSION } from '../admin/documents.ts';
import type { Versioned } from '../admin/documents.ts';
import { ERROR_CATALOGUE, LongcallError } from '../kernel/errors.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import type { Clock } from '../kernel/clock.ts';
import { isJsonObject, objectAt, stringAt } from '../kernel/json.ts';
import type { JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import type { AdminTarget } from './admin-endpoint.ts';
import { readServerEvents } from './server-events.ts';
import type { ServerEvent } from './server-events.ts';

const ANSWER_MS_MAX = 30_000;

export type Query = Readonly<Record<string, string | undefined>>;

/** A client of one gateway's admin API. Every refusal is the `LongcallError` that the API named. */
export interface AdminClient {
  get<T>(path: string, query?: Query): Promise<Versioned<T>>;
  post<T>(path: string, body: JsonObject): Promise<Versioned<T>>;
  /** Server-sent events until the other side ends them or `signal` is aborted. */
  events(path: string, signal: AbortSignal): Promise<AsyncGenerator<ServerEvent, void, undefined>>;
}

/** An id as one segment of a path. */
export const segment = (id: string): string => encodeURIComponent(id);

export function createAdminClient(target: AdminTarget, clock: Clock): AdminClient {
  const ask = (path: string, init: RequestInit): Promise<Response> =>
    send(target, { path: `${API_PATH}${path}`, init });
  const call = (path: string, init: RequestInit): Promise<Answer> =>
    inTime(clock, async (signal) => answerOf(target, await ask(path, { ...init, signal })));
  return {
    get: async (path, query = {}) => documentOf(await call(path + queryText(query), {})),
    async post(path, body) {
      const headers = { 'content-type': 'application/json' };
      return documentOf(await call(path, { method: 'POST', body: JSON.stringify(body), headers }));
    },
    async events(path, signal) {
      const response = await ask(path, { signal, headers: { accept: 'text/event-stream' } });
      if (response.ok && response.body !== null) return readServerEvents(response.body);
      throw refusalOf(await answerOf(target, response));
    },
  };
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Runs one request with a limit on how long its answer may take. */
async function inTime<T>(clock: Clock, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = clock.after(ANSWER_MS_MAX, () => limit.abort());
  try {
    return await request(limit.signal);
  } finally {
    timer.cancel();
  }
}

interface Sent {
  readonly path: string;
  readonly init: RequestInit;
}

async function send(target: AdminTarget, { path, init }: Sent): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string> | undefined), ...bearer(target) };
  try {
    return await fetch(new URL(path, target.url), { ...init, headers, redirect: 'error' });
  } catch (error) {
    throw unreachable(target, error);
  }
}

const bearer = ({ token }: AdminTarget) => ({ authorization: `Bearer ${token}` });

function unreachable(target: AdminTarget, cause: unknown): LongcallError {
  const told =
    cause instanceof Error && cause.cause !== undefined ? messageOf(cause.cause) : messageOf(cause);
  const wrote = target.pid === undefined ? '' : `, as process ${target.pid} wrote in endpoint.json`;
  return new LongcallError(
    'LONGCALL_ADMIN_UNREACHABLE',
    `the admin endpoint at ${target.url} does not answer${wrote}: ${told}`,
    { cause, hint: 'start the gateway with `longcall gateway`; its tasks are kept meanwhile' },
  );
}

/** What came back, read to its end: a gateway that dies in the middle of an answer is not there. */
interface Answer {
  readonly origin: string;
  readonly deniedHint: string;
  readonly status: number;
  readonly ok: boolean;
  readonly document: JsonObject | undefined;
}

async function answerOf(target: AdminTarget, response: Response): Promise<Answer> {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(target, error);
  });
  const { status, ok } = response;
  const { url: origin, deniedHint } = target;
  return { origin, deniedHint, status, ok, document: parseObject(text) };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function documentOf<T>(answer: Answer): Versioned<T> {
  const { document } = answer;
  if (!answer.ok) throw refusalOf(answer);
  if (document === undefined) throw notOurs(answer);
  if (document['schemaVersion'] !== SCHEMA_VERSION) throw otherVersion(document);
  return document as Versioned<T>;
}

function refusalOf(answer: Answer): LongcallError {
  const error = objectAt(answer.document, 'error');
  const code = stringAt(error, 'code');
  const message = stringAt(error, 'message');
  if (code === undefined || message === undefined) return notOurs(answer);
  const isToken = answer.status === 401 && code === 'LONGCALL_ADMIN_DENIED';
  const hint = isToken ? answer.deniedHint : stringAt(error, 'hint');
  return new LongcallError(knownCode(code), message, hint === undefined ? {} : { hint });
}

const knownCode = (code: string): ErrorCode =>
  Object.hasOwn(ERROR_CATALOGUE, code) ? (code as ErrorCode) : 'LONGCALL_INTERNAL';

function notOurs({ origin, status }: Answer): LongcallError {
  return new LongcallError(
    'LONGCALL_ADMIN_UNREACHABLE',
    `what answers at ${origin} (HTTP ${status}) is no longcall admin endpoint`,
    { hint: 'name the admin endpoint with --server, or the data directory with --data' },
  );
}

function otherVersion(document: JsonObject): LongcallError {
  const theirs = JSON.stringify(document['schemaVersion']);
  return new LongcallError(
    'LONGCALL_ADMIN_UNREACHABLE',
    `the gateway speaks version ${theirs} of the admin documents, this command ${SCHEMA_VERSION}`,
    { hint: 'use the same version of longcall for both' },
  );
}
