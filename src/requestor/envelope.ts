import type { JsonObject } from '../kernel/json.ts';
import type { AskKind } from '../protocol/model.ts';
import { isReservedMeta, TASKS_EXTENSION } from '../protocol/names.ts';

/** Members of a request's `_meta` on 2026-07-28 (G2-153, G2-169). */
export const PROTOCOL_VERSION_META = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_META = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_META = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL_META = 'io.modelcontextprotocol/logLevel';
/** Where a result of 2026-07-28 says who answered (G2-154). */
export const SERVER_INFO_META = 'io.modelcontextprotocol/serverInfo';

/** Who we say we are to a peer. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Client capabilities that allow exactly these questions, and tasks where `tasks` says so. */
export function capabilitiesFor(
  asks: readonly AskKind[],
  options: { readonly tasks: boolean },
): JsonObject {
  const form = asks.includes('elicitation-form') ? { form: {} } : {};
  const url = asks.includes('elicitation-url') ? { url: {} } : {};
  const elicits = asks.includes('elicitation-form') || asks.includes('elicitation-url');
  return {
    ...(elicits ? { elicitation: { ...form, ...url } } : {}),
    ...(asks.includes('sampling') ? { sampling: {} } : {}),
    ...(asks.includes('roots') ? { roots: {} } : {}),
    ...(options.tasks ? { extensions: { [TASKS_EXTENSION]: {} } } : {}),
  };
}

/** The members that pass from hop to hop; what the protocol reserves speaks for one hop only (decision 17). */
export function passingMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([member]) => !isReservedMeta(member)));
}
