import type { Principal } from '../../../identity/principal.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RequestSite } from '../call/request-site.ts';
import type { Face } from '../face.ts';
import { notification, type RpcRequest } from '../message.ts';
import { callWordsOf, foreignMeta, progressTokenOf, withoutMetaOf } from '../meta.ts';
import type { Reply } from '../reply.ts';
import type { Lane } from './lane.ts';
import type { Session } from './session.ts';

/** One request of a client of 2025-11-25 or older. */
export interface SessionRequest extends Omit<RpcRequest, 'kind'> {
  readonly session: Session;
  readonly principal: Principal;
  /** For messages that belong to this request. */
  readonly lane: Lane;
  /** Lets the answer begin as a stream at once, before there is anything to say. */
  openStream(): void;
  /** Aborted by `notifications/cancelled` and when the session ends; the reason is a SessionStop. */
  readonly signal: AbortSignal;
  /** Aborted when the answer cannot reach the client any more. A disconnect is no cancel (G1-72): most do not care. */
  readonly gone: AbortSignal;
}

/** Answers one method; nothing where a stopped request gets no answer. */
export type SessionMethod = (request: SessionRequest) => Promise<Reply | undefined>;

export function siteOf(face: Face, request: SessionRequest): RequestSite {
  const { session, principal, signal, lane, params } = request;
  return {
    face,
    principal,
    generation: session.generation,
    params: withoutMetaOf(params),
    meta: foreignMeta(params),
    words: callWordsOf(params),
    progressToken: progressTokenOf(params),
    asks: session.asks,
    signal,
    notify: (method, sent) => void lane.send(notification(method, sent)),
    wantsLog: session.wantsLog,
  };
}

/** An upstream's result as a session may see it: `resultType` is of 2026-07-28. */
export function sessionResult(result: JsonObject): JsonObject {
  const { resultType: _, ...rest } = result;
  return rest;
}
