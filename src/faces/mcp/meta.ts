import { objectAt, type JsonObject } from '../../kernel/json.ts';
import { isReservedMeta, OWN_PREFIX } from '../../protocol/names.ts';

/** Members of a request's `_meta` on 2026-07-28, and what results carry back. */
export const ENVELOPE = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

/** Names the question in a request of ours, the same on every delivery: a client may suppress what it shows already (T4). */
export const INPUT_KEY_META = `${OWN_PREFIX}inputKey`;

/** The members that are not the protocol's: they pass in both directions (decision 17). */
export function foreignMeta(params: JsonObject): JsonObject {
  const meta = objectAt(params, '_meta');
  if (meta === undefined) return {};
  return Object.fromEntries(Object.entries(meta).filter(([member]) => !isReservedMeta(member)));
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
