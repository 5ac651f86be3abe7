/**
 * Our own JSON-RPC error codes, outside every range that JSON-RPC and MCP reserve (G2-124). Which case it is stands
 * in `data.reason`; programs decide on that and on the code, never on the message.
 *
 * | code | `data.reason` | further data | meaning |
 * | --- | --- | --- | --- |
 * | 1403 | `policy` | `remedy` | policy does not let this tool be called |
 * | 1403 | `insufficient_scope` | `scope` | the credential lacks a scope; over HTTP with status 403 and a challenge |
 * | 1409 | `idempotency_conflict` | `code`, `operationId` | the key was used with other arguments; nothing was started |
 * | 1409 | `already_called` | `code`, `operationId`, `outcome` | the call was made before and its record is gone; nothing was started |
 * | 1429 | `capacity` | `limit`, `retryAfterMs` | too much is open or held; the same call may be sent again later |
 * | 1429 | `status_reads` | `retryAfterMs` | status is read far more often than the hint says; over HTTP with status 429 |
 * | 1503 | `draining` | `retryAfterMs` | this process is shutting down; what it had begun is recorded |
 * | 1503 | `store` | `written`, `retryAfterMs`, `errorId` | the records cannot be kept now; `written` is `no` or `unknown` |
 *
 * `-32603` comes with a `data.reason` too where a plain call ended without the tool's answer: `plain_limit`,
 * `cancelled`; and with `data.errorId` where the cause is in our log only.
 */
export const FACE_CODES = {
  forbidden: 1403,
  conflict: 1409,
  capacity: 1429,
  unavailable: 1503,
} as const;
