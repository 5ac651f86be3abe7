import type { Clock } from '../kernel/clock.ts';
import { objectAt, type JsonObject } from '../kernel/json.ts';
import { GENERATIONS, type Generation, type RpcError } from '../protocol/model.ts';
import { TASKS_EXTENSION } from '../protocol/names.ts';
import { createAttendanceBook, type Attendance, type Attendant } from './attendance.ts';
import { createCalls } from './calls.ts';
import type { ClientInfo } from './envelope.ts';
import type { PeerHello } from './handshake.ts';
import { answerQuestions } from './peer-requests.ts';
import { readMessage } from './rpc-message.ts';
import { routeNotification } from './peer-notifications.ts';
import type { SendFailure, Wire, WireKind } from './wire.ts';

/** Which revision a peer speaks; `older` has no Tasks. */
export type PeerGeneration = Generation | 'older';

export function generationOf(protocolVersion: string): PeerGeneration {
  return GENERATIONS.find((generation) => generation === protocolVersion) ?? 'older';
}

/** Whether the peer speaks the tasks extension, so that a request may be answered with a task (G2-01). */
export const speaksTasks2026 = ({
  generation,
  hello,
}: Pick<Connection, 'generation' | 'hello'>): boolean =>
  generation === '2026-07-28' &&
  objectAt(objectAt(hello.capabilities, 'extensions'), TASKS_EXTENSION) !== undefined;

/** A request of ours, before the envelope of the peer's generation is put around it. */
export interface PeerRequest {
  readonly method: string;
  /** Without `_meta`. */
  readonly params: JsonObject;
  /** Members that pass through (decision 17). */
  readonly meta?: JsonObject;
  /** What this request declares; 2026-07-28 only, before it the handshake has declared. */
  readonly capabilities?: JsonObject;
  /** Asks for log messages from this level on; 2026-07-28 only. */
  readonly logLevel?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** See SendOptions: for what must not be sent twice. */
  readonly freshSocket?: boolean;
  /** Whose request it is. Absent: our own housekeeping, which nobody can be asked about. */
  readonly attendance?: Attendance;
  readonly wantsProgress?: boolean;
  /** No limit when absent. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** `subscriptions/listen`: the peer has acknowledged it. */
  readonly onAcknowledged?: () => void;
  /** Whether an abort for this reason is passed on to the peer; always, when absent. */
  readonly passesAbort?: (reason: unknown) => boolean;
}

/** How a request ended. Never an exception: what nobody can know is a value too. */
export type PeerAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject; readonly bytes: number }
  | { readonly kind: 'error'; readonly error: RpcError }
  | SendFailure
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

/** What the peer says that belongs to no call. */
export type StrayListener = (method: string, params: JsonObject) => void;

/** One connection to a peer after its handshake: raw requests and answers, nothing validated away. */
export interface Connection {
  readonly hello: PeerHello;
  readonly generation: PeerGeneration;
  readonly transport: WireKind;
  /** Whether the peer may keep state for it, so that no two principals may share it (decision 8). */
  readonly keepsState: boolean;
  /** The process behind it; stdio only. */
  readonly pid: number | undefined;
  isOpen(): boolean;
  /** Whether its death shows by itself; otherwise `ping` before something that must not be repeated. */
  isWatched(): boolean;
  /** ms since the peer was last heard. */
  silentMs(): number;
  enter(attendant: Attendant): Attendance;
  request(request: PeerRequest): Promise<PeerAnswer>;
  notify(method: string, params: JsonObject): Promise<void>;
  ping(timeoutMs: number): Promise<boolean>;
  onStray(listener: StrayListener): void;
  onClosed(listener: (problem: string) => void): void;
  /** Closes it once nothing is under way; after `waitMs`, if given, in any case. */
  closeWhenIdle(waitMs?: number): void;
  close(graceMs: number): Promise<void>;
}

export interface ConnectionOptions {
  readonly wire: Wire;
  readonly hello: PeerHello;
  readonly clientInfo: ClientInfo;
  readonly clock: Clock;
  /** Distinguishes its request ids from those of other connections, in logs. */
  readonly idPrefix: string;
}

const CLOSE_GRACE_MS = 2_000;

/** Takes a wire over from the handshake. */
export function createConnection(options: ConnectionOptions): Connection {
  const { wire, hello, clock } = options;
  const generation = generationOf(hello.protocolVersion);
  const book = createAttendanceBook();
  const calls = createCalls(options, { generation, book });
  const strays = new Set<StrayListener>();
  const endings = new Set<(problem: string) => void>();
  const questions = answerQuestions({ wire, generation, book, ownerOf: calls.attendantOf });
  let heardAt = clock.monotonic();
  let closed: string | undefined;

  wire.listen({
    message(value, source) {
      heardAt = clock.monotonic();
      const message = readMessage(value);
      if (message.kind === 'request') questions.hear(message, source.via);
      else if (message.kind !== 'notification') calls.settle(message, source.bytes);
      else if (message.method === 'notifications/cancelled')
        questions.takeBack(message.params['requestId']);
      else if (message.method === 'notifications/subscriptions/acknowledged')
        calls.acknowledge(message.params);
      else
        routeNotification(message, {
          book,
          via: calls.attendantOf(source.via),
          byToken: calls.attendantOfToken,
          stray: (method, params) => strays.forEach((listener) => listener(method, params)),
        });
    },
    failed: (id, failure) => calls.fail(id, failure),
    closed(problem) {
      closed = problem;
      if (wire.kind !== 'http') calls.failAll({ kind: 'lost', problem });
      questions.end();
      for (const listener of endings) listener(problem);
    },
  });

  const close = (graceMs: number): Promise<void> => wire.close(graceMs);
  return {
    hello,
    generation,
    transport: wire.kind,
    keepsState: wire.keepsState(),
    pid: wire.pid(),
    isOpen: () => closed === undefined,
    isWatched: () => wire.isWatched(),
    silentMs: () => clock.monotonic() - heardAt,
    enter: (attendant) => book.enter(attendant),
    request: (request) => calls.request(request),
    async notify(method, params) {
      await wire.send({ jsonrpc: '2.0', method, params });
    },
    async ping(timeoutMs) {
      const method = generation === '2026-07-28' ? 'server/discover' : 'ping';
      const answer = await calls.request({ method, params: {}, timeoutMs });
      return answer.kind === 'result' || answer.kind === 'error';
    },
    onStray: (listener) => void strays.add(listener),
    onClosed(listener) {
      endings.add(listener);
      if (closed !== undefined) listener(closed);
    },
    closeWhenIdle(waitMs) {
      const end = (): void => void close(CLOSE_GRACE_MS);
      if (waitMs !== undefined) clock.after(waitMs, end);
      calls.whenIdle(end);
    },
    close,
  };
}
