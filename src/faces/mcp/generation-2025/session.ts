import type { Principal } from '../../../identity/principal.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { AskKind } from '../../../protocol/model.ts';
import type { CallerGeneration } from '../../../runtime/surface.ts';
import { asksOf } from '../client-capabilities.ts';
import { isLoggable, type LogLevel } from '../../../protocol/log-level.ts';
import type { RpcId, RpcResponse } from '../message.ts';
import type { Lane } from './lane.ts';
import { createOpenAsks, type OnAnswer } from './open-asks.ts';
import type { SessionVersion } from './versions.ts';

/** A request of ours that the client has not answered. */
export interface OpenAsk {
  /** Its answer will be ignored, and no resumption brings it again (T4). */
  supersede(): void;
  /** Supersedes it and tells the client so, where it still listens (T18). */
  cancel(reason: string): void;
  /** The same, because its time was up: what comes for it from now on is late, and hears so (Q1). */
  expire(reason: string): void;
}

/** What became of an answer to a request of ours. `ignored`: nobody waits for it (any more). */
export type ResponseVerdict =
  | { readonly kind: 'taken' | 'ignored' | 'expired' }
  /** It can be no answer to what was asked; that stays open. */
  | { readonly kind: 'malformed'; readonly problem: string };

/** Why requests of a session stop: by `notifications/cancelled`, or because the session ended. */
export type SessionStop = 'cancelled' | 'ended';

/** One client of 2025-11-25 or older after `initialize`. Says what was negotiated; never who may do what (G1-104). */
export interface Session {
  readonly id: string;
  readonly version: SessionVersion;
  readonly generation: CallerGeneration;
  readonly asks: readonly AskKind[];
  /** As of the latest request, so that scopes and expiry are today's. The binding key never changes. */
  principal(): Principal;
  seen(principal: Principal): void;
  /** For what belongs to no running request. */
  readonly standalone: Lane;
  /** Requests under way, to be cancelled by their id; nothing where a request of that id is under way already. */
  begin(id: RpcId): AbortController | undefined;
  finish(id: RpcId): void;
  cancel(id: RpcId): void;
  ask(lane: Lane, request: AskRequest, onAnswer: OnAnswer): OpenAsk;
  /** An answer to one of our requests; one that nobody waits for is ignored (G1-74, T4). */
  takeResponse(response: RpcResponse): Promise<ResponseVerdict>;
  /** Tasks that this client has created or asked about. */
  learn(taskId: string): void;
  knows(taskId: string): boolean;
  setLogLevel(level: LogLevel): void;
  wantsLog(level: unknown): boolean;
  watching(uri: string): boolean;
  watch(uri: string, stop: () => void): void;
  unwatch(uri: string): void;
  isIdle(): boolean;
  end(): void;
}

export interface AskRequest {
  readonly method: string;
  readonly params: JsonObject;
}

export interface SessionOptions {
  readonly id: string;
  readonly version: SessionVersion;
  readonly capabilities: JsonObject;
  readonly principal: Principal;
  readonly standalone: Lane;
}

const KNOWN_TASKS_MAX = 1000;

/** The ids a client knows; the oldest is forgotten first. */
function createKnownTasks(): Pick<Session, 'learn' | 'knows'> {
  const known = new Set<string>();
  return {
    knows: (taskId) => known.has(taskId),
    learn(taskId) {
      known.delete(taskId);
      known.add(taskId);
      const [oldest] = known;
      if (known.size > KNOWN_TASKS_MAX && oldest !== undefined) known.delete(oldest);
    },
  };
}

function createWatches(): Pick<Session, 'watching' | 'watch' | 'unwatch'> & { end(): void } {
  const watches = new Map<string, () => void>();
  let over = false;
  const unwatch = (uri: string): void => {
    watches.get(uri)?.();
    watches.delete(uri);
  };
  return {
    watching: (uri) => watches.has(uri),
    watch(uri, stop) {
      if (over) return stop(); // the session has ended while the upstream was asked
      unwatch(uri);
      watches.set(uri, stop);
    },
    unwatch,
    end() {
      over = true;
      Array.from(watches.keys()).forEach(unwatch);
    },
  };
}

export function createSession(options: SessionOptions): Session {
  const { id, version, standalone } = options;
  const requests = new Map<RpcId, AbortController>();
  const watches = createWatches();
  const asks = createOpenAsks();
  let { principal } = options;
  let logLevel: LogLevel = 'debug';
  const stop = (controller: AbortController | undefined, why: SessionStop): void =>
    controller?.abort(why);
  return {
    id,
    version,
    generation: version === '2025-11-25' ? version : 'older',
    asks: asksOf(options.capabilities),
    standalone,
    principal: () => principal,
    seen: (now) => void (principal = now),
    begin(requestId) {
      if (requests.has(requestId)) return undefined;
      const controller = new AbortController();
      requests.set(requestId, controller);
      return controller;
    },
    finish: (requestId) => void requests.delete(requestId),
    cancel: (requestId) => stop(requests.get(requestId), 'cancelled'),
    ...createKnownTasks(),
    ...watches,
    ...asks,
    setLogLevel: (level) => void (logLevel = level),
    wantsLog: (level) => isLoggable(level, logLevel),
    isIdle: () => requests.size === 0,
    end() {
      for (const controller of requests.values()) stop(controller, 'ended');
      watches.end();
      asks.clear();
    },
  };
}
