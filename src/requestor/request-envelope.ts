import type { JsonObject } from '../kernel/json.ts';
import type { ConnectionOptions, PeerGeneration, PeerRequest } from './connection.ts';
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  LOG_LEVEL_META,
  PROTOCOL_VERSION_META,
} from './envelope.ts';

export interface Envelope {
  readonly id: string;
  readonly options: ConnectionOptions;
  readonly generation: PeerGeneration;
  readonly token: string | undefined;
}

/** Puts the request into the envelope that the peer's generation wants (G2-153, decision 17). */
export function envelop(
  request: PeerRequest,
  { id, options, generation, token }: Envelope,
): JsonObject {
  const { method, params, meta = {}, capabilities = {}, logLevel } = request;
  const reserved: JsonObject =
    generation === '2026-07-28'
      ? {
          [PROTOCOL_VERSION_META]: options.hello.protocolVersion,
          [CLIENT_INFO_META]: {
            name: options.clientInfo.name,
            version: options.clientInfo.version,
          },
          [CLIENT_CAPABILITIES_META]: capabilities,
          ...(logLevel === undefined ? {} : { [LOG_LEVEL_META]: logLevel }),
        }
      : {};
  const all = { ...meta, ...reserved, ...(token === undefined ? {} : { progressToken: token }) };
  const named = Object.keys(all).length === 0 ? params : { ...params, _meta: all };
  return { jsonrpc: '2.0', id, method, params: named };
}
