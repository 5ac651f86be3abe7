/** Names of the protocol that more than one part needs; each has its place in the specification. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** 2025-11-25 only: ties a message to its task (G1-134). */
export const RELATED_TASK_META = 'io.modelcontextprotocol/related-task';
/** 2025-11-25 only: a text for the model to see at once (G1-146). */
export const IMMEDIATE_RESPONSE_META = 'io.modelcontextprotocol/model-immediate-response';
/** 2026-07-28: names the listen request that a message belongs to (G2-102). */
export const SUBSCRIPTION_META = 'io.modelcontextprotocol/subscriptionId';

/** JSON-RPC error codes of MCP that we emit (G1-90…G1-95, G2-114…G2-124). */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** Our own prefix in `_meta` and elsewhere; the protocol's is never used for inventions (T40, G2-183). */
export const OWN_PREFIX = 'dev.longcall/';

/** In a request: the caller's name for this call, so that a repeat of it is told from another one (decision 4). */
export const IDEMPOTENCY_KEY_META = `${OWN_PREFIX}idempotencyKey`;
/** In a request: `true` means another call, although it looks like a repeat. */
export const NEW_OPERATION_META = `${OWN_PREFIX}newOperation`;
/** In an answer: nothing new was begun, this is what the first call has come to. */
export const DEDUPLICATED_META = `${OWN_PREFIX}deduplicated`;
/** In an answer: the call's row in the ledger. */
export const OPERATION_ID_META = `${OWN_PREFIX}operationId`;
/** In an answer: a line for people beside it. */
export const NOTE_META = `${OWN_PREFIX}note`;

/** A `_meta` member that the protocol reserves: the prefix's second label is `mcp` or `modelcontextprotocol` (T40). */
export function isReservedMeta(member: string): boolean {
  if (member === 'progressToken') return true;
  const slash = member.indexOf('/');
  if (slash < 0) return false;
  const second = member.slice(0, slash).split('.')[1];
  return second === 'mcp' || second === 'modelcontextprotocol';
}
