import type { Principal } from '../../../identity/principal.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RequestSite } from '../call/request-site.ts';
import type { Face } from '../face.ts';
import { isLoggable } from '../../../protocol/log-level.ts';
import type { RpcRequest } from '../message.ts';
import { callWordsOf, foreignMeta, progressTokenOf, withoutMetaOf } from '../meta.ts';
import type { Reply } from '../reply.ts';
import type { Envelope } from './envelope.ts';

/** One request of 2026-07-28: everything there is to know stands in it. */
export interface ModernRequest extends Omit<RpcRequest, 'kind'> {
  readonly principal: Principal;
  readonly envelope: Envelope;
  /**
   * Aborted when the response stream was closed or, on stdio, by `notifications/cancelled`: both stop the request
   * (G2-91, G2-92). The reason is `gone`, `cancelled` or `closing`.
   */
  readonly signal: AbortSignal;
  /** Sends a notification on the response stream. */
  notify(method: string, params: JsonObject): void;
}

/** Answers one method; nothing where the request was stopped. */
export type ModernMethod = (request: ModernRequest) => Promise<Reply | undefined>;

export function siteOf(face: Face, request: ModernRequest): RequestSite {
  const { principal, params, envelope, signal, notify } = request;
  const { logLevel } = envelope;
  return {
    face,
    principal,
    generation: '2026-07-28',
    params: withoutMetaOf(params),
    meta: foreignMeta(params),
    words: callWordsOf(params),
    progressToken: progressTokenOf(params),
    asks: envelope.asks,
    signal,
    notify,
    wantsLog: (level) => logLevel !== undefined && isLoggable(level, logLevel),
  };
}
