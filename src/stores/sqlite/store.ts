import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kernel/clock.ts';
import { LongcallError } from '../../kernel/errors.ts';
import { messageOf } from '../../kernel/logger.ts';
import type { Random } from '../../kernel/random.ts';
import type { Store, StoreHealth } from '../store.ts';
import { createArtifactStore } from './artifacts.ts';
import { createAttemptStore } from './attempts.ts';
import { IN_MEMORY, openConnection } from './connection.ts';
import { createEventStore } from './events.ts';
import { storeFailure } from './failures.ts';
import { watchPresence } from './file-presence.ts';
import { createGroupCommit } from './group-commit.ts';
import { createInputStore } from './inputs.ts';
import { createJournalStore } from './journal.ts';
import { createManifestStore } from './manifests.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.generated.ts';
import { createOperationStore } from './operations.ts';
import { createTables } from './session.ts';
import type { Session } from './session.ts';
import { createTaskStore } from './tasks.ts';

export interface SqliteStoreOptions {
  /** The database file, in a directory that exists; `:memory:` for one that dies with the store. */
  readonly path: string;
  /** The store's time: one SQLite file has one writing process, so its clock is the database's. */
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Opens the embedded store and brings its schema up to date. Hold the data directory's lock first: one process
 * writes a file, through one connection. Rejects with LONGCALL_STORE_SCHEMA_TOO_NEW, LONGCALL_STORE_FULL or
 * LONGCALL_STORE_FAILED.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const db = open(options.path);
  try {
    const schemaVersion = migrate(db, MIGRATIONS, options.clock.now());
    return createStore(db, schemaVersion, options);
  } catch (error) {
    db.close();
    throw storeFailure(error, 'no');
  }
}

function open(path: string): DatabaseSync {
  try {
    return openConnection(path);
  } catch (error) {
    const message = `the store ${path} cannot be opened: ${messageOf(error)}`;
    throw new LongcallError('LONGCALL_STORE_FAILED', message, { cause: error });
  }
}

function createStore(db: DatabaseSync, schemaVersion: number, options: SqliteStoreOptions): Store {
  const { clock, random, path } = options;
  const mayWrite = path === IN_MEMORY ? () => undefined : watchPresence(path);
  const commit = createGroupCommit(db, clock, mayWrite);
  const session: Session = { db, commit, tables: createTables(db, random) };
  let closing: Promise<void> | undefined;
  return {
    tasks: createTaskStore(session),
    attempts: createAttemptStore(session),
    inputs: createInputStore(session),
    operations: createOperationStore(session),
    artifacts: createArtifactStore(session),
    journal: createJournalStore(session),
    events: createEventStore(session),
    manifests: createManifestStore(session),
    now: () => clock.now(),
    check: () => commit.read(() => health({ db, schemaVersion, path, mayWrite })),
    close: () => {
      closing ??= closeStore(session);
      return closing;
    },
  };
}

async function closeStore({ db, commit }: Session): Promise<void> {
  commit.close();
  db.close();
}

interface Checked {
  readonly db: DatabaseSync;
  readonly schemaVersion: number;
  readonly path: string;
  readonly mayWrite: () => void;
}

function health({ db, schemaVersion, path, mayWrite }: Checked): StoreHealth {
  const where = path === IN_MEMORY ? 'in memory' : path;
  const findings = findingsOf(db, mayWrite);
  const ok = findings.length === 0;
  const detail = ok ? where : `${where}: ${findings.join('; ')}`;
  return { kind: 'sqlite', schemaVersion, ok, detail };
}

/** What is wrong with the file; a file that cannot even be checked is wrong too. */
function findingsOf(db: DatabaseSync, mayWrite: () => void): readonly string[] {
  try {
    mayWrite();
    const damage = db
      .prepare('PRAGMA quick_check(3)')
      .all()
      .map((row) => String(row['quick_check']))
      .filter((finding) => finding !== 'ok');
    const orphans = db.prepare('PRAGMA foreign_key_check').all().length;
    return orphans === 0 ? damage : [...damage, `${orphans} rows without the task they belong to`];
  } catch (error) {
    return [messageOf(error)];
  }
}
