import { join } from 'node:path';
import { inspectDataLock } from '../stores/sqlite/data-lock.ts';
import type { LockState } from '../stores/sqlite/data-lock.ts';
import { inspectSqliteFile } from '../stores/sqlite/inspect.ts';
import type { StoreHealth } from '../stores/store.ts';
import { STORE_FILE } from './data-home.ts';

/** What can be said of a data directory from outside, for a process that does not serve it. Changes nothing. */
export interface DataInspection {
  readonly lock: LockState;
  /** Absent where there is no store yet. */
  readonly store?: StoreHealth;
}

/** Whether a process holds the directory. */
export const inspectLock = (directory: string): LockState => inspectDataLock(directory);

export function inspectData(directory: string): DataInspection {
  const store = inspectSqliteFile(join(directory, STORE_FILE));
  const lock = inspectDataLock(directory);
  return store === undefined ? { lock } : { lock, store };
}
