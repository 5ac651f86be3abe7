import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './failures.ts';

/** How long SQLite waits for another process's lock, in ms. Set by PRAGMA: the option came after Node 22.13. */
const BUSY_TIMEOUT_MS = 5000;
/** Pages kept in memory, in KiB: enough for the rows of 10⁵ tasks, so that reads stay as fast as with a few. */
const CACHE_KIB = 65_536;
/** What the write-ahead log is cut back to after a checkpoint, in bytes. */
const LOG_BYTES_MAX = 67_108_864;

const PRAGMAS = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA foreign_keys = ON;
  PRAGMA synchronous = FULL;
  PRAGMA journal_size_limit = ${LOG_BYTES_MAX};
  PRAGMA cache_size = -${CACHE_KIB};
  PRAGMA temp_store = MEMORY;
  PRAGMA secure_delete = FAST;
  PRAGMA trusted_schema = OFF;`;

/** SQLite's name for a database that lives in memory and dies with its connection. */
export const IN_MEMORY = ':memory:';

/**
 * Opens the one connection of this process to a database file, durable at each COMMIT. A new file can be read by its
 * owner only; its log files inherit that.
 */
export function openConnection(path: string): DatabaseSync {
  if (path !== IN_MEMORY) createPrivateFile(path);
  const db = new DatabaseSync(path);
  try {
    db.exec(PRAGMAS);
    enterLogMode(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Never opens a file that is there: closing it again would drop the locks of a connection to it. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Processes that open a new file at the same moment get in each other's way here, past the busy timeout's reach. */
const LOG_MODE_TRIES = 50;

function enterLogMode(db: DatabaseSync): void {
  for (let tries = 1; ; tries += 1) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || tries >= LOG_MODE_TRIES) throw error;
    }
  }
}
