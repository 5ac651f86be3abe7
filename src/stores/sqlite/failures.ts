import { LongcallError } from '../../kernel/errors.ts';
import { messageOf } from '../../kernel/logger.ts';

/** Primary result codes of SQLite that mean something here (https://sqlite.org/rescode.html). */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;

/** Failures of the machine, not of a statement: another write would meet them too. */
const ENVIRONMENT: readonly (number | undefined)[] = [
  BUSY,
  READONLY,
  IOERR,
  CORRUPT,
  CANTOPEN,
  PROTOCOL,
  NOTADB,
];

/** SQLite's primary result code, or nothing where something else was thrown. */
export function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

export const isBusy = (error: unknown): boolean => resultCodeOf(error) === BUSY;

/** Whether the failure may lie with one write of several, so that the others deserve a transaction of their own. */
export function mayBeOneWritesFault(error: unknown): boolean {
  return !ENVIRONMENT.includes(resultCodeOf(error));
}

/**
 * What a caller sees of a failure. `written: 'unknown'` marks a COMMIT that the disk failed: the record must be read
 * by its id before anything is answered (decision 1). What SQLite did not throw passes through.
 */
export function storeFailure(error: unknown, written: 'no' | 'unknown'): unknown {
  const code = resultCodeOf(error);
  if (code === undefined) return error;
  const data = { written };
  if (code === FULL) {
    const hint = 'free space on the disk of the data directory; nothing is lost that was promised';
    return new LongcallError('LONGCALL_STORE_FULL', 'the disk of the store is full', {
      cause: error,
      hint,
      data,
    });
  }
  const message = `the store failed: ${messageOf(error)}`;
  return new LongcallError('LONGCALL_STORE_FAILED', message, { cause: error, data });
}

export const storeClosed = (): LongcallError =>
  new LongcallError('LONGCALL_STORE_CLOSED', 'the store is closed', {
    hint: 'open it again before use',
  });
