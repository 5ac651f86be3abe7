import { objectAt, type Json, type JsonObject } from '../../kernel/json.ts';
import {
  IDEMPOTENCY_KEY_META,
  isReservedMeta,
  NEW_OPERATION_META,
  OWN_PREFIX,
} from '../../protocol/names.ts';

/** Members of a request's `_meta` on 2026-07-28, and what results carry back. */
export const ENVELOPE = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

/** Names the question in a request of ours, the same on every delivery: a client may suppress what it shows already (T4). */
export const INPUT_KEY_META = `${OWN_PREFIX}inputKey`;

/** What a caller says to us of its call: a key of one of our callers must not become one among all of ours upstream. */
const OWN_WORDS: readonly string[] = [IDEMPOTENCY_KEY_META, NEW_OPERATION_META];

/** The members that are neither the protocol's nor for us: they pass in both directions (decision 17). */
export function foreignMeta(params: JsonObject): JsonObject {
  const meta = objectAt(params, '_meta');
  if (meta === undefined) return {};
  const passes = ([member]: readonly [string, unknown]): boolean =>
    !isReservedMeta(member) && !OWN_WORDS.includes(member);
  return Object.fromEntries(Object.entries(meta).filter(passes));
}

/** What a request says to us of the call that it makes; not checked yet. */
export interface CallWords {
  readonly idempotencyKey: Json | undefined;
  readonly newOperation: Json | undefined;
}

export function callWordsOf(params: JsonObject): CallWords {
  const meta = objectAt(params, '_meta');
  return {
    idempotencyKey: meta?.[IDEMPOTENCY_KEY_META],
    newOperation: meta?.[NEW_OPERATION_META],
  };
}

/** The token under which this request wants its progress, where it gave one. */
export function progressTokenOf(params: JsonObject): string | number | undefined {
  const token = objectAt(params, '_meta')?.['progressToken'];
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

export function withoutMetaOf(params: JsonObject): JsonObject {
  const { _meta: _, ...rest } = params;
  return rest;
}
