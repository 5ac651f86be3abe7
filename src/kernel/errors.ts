/**
 * Every error that leaves the package as a `LongcallError`: stable code, what it means in a few words, the CLI's exit
 * code, and whether the same call may be tried again as it is. docs/reference/errors has a page for each.
 */
export const ERROR_CATALOGUE = {
  LONGCALL_NODE_TOO_OLD: {
    summary: 'this Node.js is older than longcall needs',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_CONFIG_INVALID: {
    summary: 'the configuration has errors',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_CONFIG_NOT_FOUND: {
    summary: 'the configuration file is not there',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_USAGE: { summary: 'the command was called wrongly', exitCode: 2, retryable: false },
  LONGCALL_LIBRARY_USAGE: {
    summary: 'the library was called wrongly',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_DATA_LOCKED: {
    summary: 'another process owns the data directory',
    exitCode: 2,
    retryable: true,
  },
  LONGCALL_DATA_UNUSABLE: {
    summary: 'the data directory cannot be used',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_KEY_FILE_UNSAFE: {
    summary: 'a key or token file can be read by others',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_SOCKET_UNSAFE: {
    summary: 'somebody else could stand behind the socket of the engine',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_ENGINE_UNREACHABLE: {
    summary: 'the background engine does not answer',
    exitCode: 11,
    retryable: true,
  },
  LONGCALL_ENGINE_VERSION: {
    summary: 'the background engine is of another version and has work',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_ENGINE_LOST: {
    summary: 'the background engine ended while a window was open',
    exitCode: 11,
    retryable: true,
  },
  LONGCALL_LISTEN_FAILED: {
    summary: 'the address cannot be listened on',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_LISTEN_UNSAFE: {
    summary: 'beyond loopback without identity',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_STORE_SCHEMA_TOO_NEW: {
    summary: 'a newer longcall has written this store',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_STORE_FAILED: {
    summary: 'the store could not read or write',
    exitCode: 1,
    retryable: true,
  },
  LONGCALL_STORE_FULL: { summary: 'the disk of the store is full', exitCode: 1, retryable: true },
  LONGCALL_STORE_CLOSED: { summary: 'the store is closed', exitCode: 1, retryable: false },
  LONGCALL_JOURNAL_MISMATCH: {
    summary: 'the handler of a call has changed since it began',
    exitCode: 8,
    retryable: false,
  },
  LONGCALL_STEP_REFUSED: {
    summary: 'a step of a handler cannot be journalled',
    exitCode: 1,
    retryable: false,
  },
  LONGCALL_UPSTREAM_UNREACHABLE: {
    summary: 'the upstream cannot be reached',
    exitCode: 11,
    retryable: true,
  },
  LONGCALL_UPSTREAM_LOST: {
    summary: 'the upstream was lost during the call',
    exitCode: 8,
    retryable: false,
  },
  LONGCALL_UPSTREAM_INVALID: {
    summary: 'the upstream answered nonsense',
    exitCode: 1,
    retryable: false,
  },
  LONGCALL_OUTCOME_UNKNOWN: {
    summary: 'nobody can say whether the call took effect',
    exitCode: 8,
    retryable: false,
  },
  LONGCALL_REFUSED_BY_POLICY: {
    summary: 'policy refuses this call',
    exitCode: 9,
    retryable: false,
  },
  LONGCALL_CAPACITY: { summary: 'too much is running already', exitCode: 12, retryable: true },
  LONGCALL_TASK_UNKNOWN: { summary: 'no such task for this caller', exitCode: 1, retryable: false },
  LONGCALL_TASK_RUNNING: { summary: 'the task has not ended yet', exitCode: 7, retryable: true },
  LONGCALL_CONFIRMATION_UNKNOWN: {
    summary: 'no question waits for this confirmation',
    exitCode: 1,
    retryable: false,
  },
  LONGCALL_TOOL_UNKNOWN: { summary: 'no such tool', exitCode: 2, retryable: false },
  LONGCALL_ANSWER_INVALID: {
    summary: 'an answer does not fit its question',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_IDEMPOTENCY_KEY_INVALID: {
    summary: 'the idempotency key cannot be one',
    exitCode: 2,
    retryable: false,
  },
  LONGCALL_IDEMPOTENCY_CONFLICT: {
    summary: 'the idempotency key was used with other arguments',
    exitCode: 10,
    retryable: false,
  },
  LONGCALL_ALREADY_CALLED: {
    summary: 'the call was made before and its record has expired',
    exitCode: 8,
    retryable: false,
  },
  LONGCALL_UNAUTHENTICATED: {
    summary: 'no credential that counts here',
    exitCode: 4,
    retryable: false,
  },
  LONGCALL_SCOPE_MISSING: {
    summary: 'the credential lacks a scope',
    exitCode: 4,
    retryable: false,
  },
  LONGCALL_DRAINING: { summary: 'this process is shutting down', exitCode: 11, retryable: true },
  LONGCALL_OPERATION_UNKNOWN: {
    summary: 'no such operation for this caller',
    exitCode: 1,
    retryable: false,
  },
  LONGCALL_ARTIFACT_UNKNOWN: {
    summary: 'no such artifact for this caller',
    exitCode: 1,
    retryable: false,
  },
  LONGCALL_ADMIN_UNREACHABLE: {
    summary: 'the admin endpoint does not answer',
    exitCode: 11,
    retryable: true,
  },
  LONGCALL_ADMIN_DENIED: { summary: 'the admin token was refused', exitCode: 4, retryable: false },
  LONGCALL_INTERNAL: {
    summary: 'longcall failed on an error of its own',
    exitCode: 1,
    retryable: false,
  },
} as const;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export interface LongcallErrorOptions {
  readonly cause?: unknown;
  /** What the reader can do next, one sentence. */
  readonly hint?: string;
  /** Bounded facts for programs, e.g. `{ operationId, retryAfterMs }`. */
  readonly data?: Readonly<Record<string, string | number | boolean>>;
}

/** An error that crosses the package boundary. Decide on `code`, show `message` and `hint`. */
export class LongcallError extends Error {
  override readonly name = 'LongcallError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ErrorCode, message: string, options: LongcallErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }

  get exitCode(): number {
    return ERROR_CATALOGUE[this.code].exitCode;
  }

  get retryable(): boolean {
    return ERROR_CATALOGUE[this.code].retryable;
  }
}
