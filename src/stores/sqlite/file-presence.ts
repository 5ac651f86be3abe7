import { statSync } from 'node:fs';
import { LongcallError } from '../../kernel/errors.ts';

/** Tells one file from another that has its name. */
function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'absent' : `${found.dev}:${found.ino}`;
}

/**
 * Asks whether the files that SQLite has open are still those that a restart would open. Without it, SQLite goes on
 * writing to files that were removed, and every promise made since would end with this process (decision 1). The
 * answer throws LONGCALL_STORE_FAILED where they are not. Take it once the log file is there: after the first statement.
 */
export function watchPresence(path: string): () => void {
  const files = [path, `${path}-wal`].map((file) => ({ file, opened: identityOf(file) }));
  return () => {
    const gone = files.find(({ file, opened }) => identityOf(file) !== opened);
    if (gone === undefined) return;
    throw new LongcallError(
      'LONGCALL_STORE_FAILED',
      `${gone.file} was removed or replaced while it was in use`,
      {
        hint: 'nothing is kept any more: put the file back, or restart the gateway to begin anew',
        data: { written: 'no' },
      },
    );
  };
}
