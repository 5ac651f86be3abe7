import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LongcallError } from '../../kernel/errors.ts';
import { messageOf } from '../../kernel/logger.ts';
import { createPrivateFile } from './connection.ts';
import { isBusy } from './failures.ts';

/**
 * The lock is an SQLite file of its own, held by an open EXCLUSIVE transaction: a lock of the operating system, so it
 * ends with its process, however that ends. Nothing else in this process may open that file, since closing any handle
 * to it would drop the lock; that is why the holder's pid stands beside it and not in it.
 */
const LOCK_FILE = 'longcall.lock';
const PID_FILE = 'longcall.pid';

/** Keeps held locks reachable: a connection that nobody refers to is closed by the garbage collector, lock and all. */
const held = new Set<DatabaseSync>();

/** Who holds a data directory: some take in further windows of its user, and some serve alone. */
export const DATA_HOLDERS = ['engine', 'gateway', 'alone'] as const;
export type DataHolder = (typeof DATA_HOLDERS)[number];

/** Sole ownership of a data directory. Whoever holds it knows that every earlier owner is dead (decision 16). */
export interface DataLock {
  readonly directory: string;
  /** Gives the directory up. Doing it twice does nothing. */
  release(): void;
}

/**
 * Takes a data directory for this process, and creates it (0700) where it is not there. Rejects at once with
 * LONGCALL_DATA_LOCKED while another process holds it, and with LONGCALL_DATA_UNUSABLE where no file can be kept in it.
 */
export async function lockDataDirectory(
  directory: string,
  holder: DataHolder = 'alone',
): Promise<DataLock> {
  try {
    createFolder(directory);
    return hold(directory, holder);
  } catch (error) {
    throw isBusy(error) ? lockedError(directory) : unusableError(directory, error);
  }
}

/** With its parents, one by one: `recursive` of the platform never comes back where a file system makes no folders. */
function createFolder(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
  if (!existsSync(dirname(directory))) createFolder(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (!isThere || !statSync(directory).isDirectory()) throw error; // another process may have been faster
  }
}

function hold(directory: string, holder: DataHolder): DataLock {
  const db = lockFile(join(directory, LOCK_FILE));
  try {
    writeFileSync(join(directory, PID_FILE), `${process.pid} ${holder}\n`, { mode: 0o600 });
  } catch (error) {
    db.close();
    throw error;
  }
  held.add(db);
  return {
    directory,
    release: () => {
      if (!held.delete(db)) return;
      rmSync(join(directory, PID_FILE), { force: true });
      db.close();
    },
  };
}

function lockFile(path: string): DatabaseSync {
  createPrivateFile(path); // who can read a file can lock it, too
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const START_LOCK_FILE = 'engine-start.lock';

/**
 * The right to start the process that will hold the directory, which is created where it is not there; the answer gives
 * it up. Nothing while another process has it. It ends with its process, too.
 */
export function claimStart(directory: string): (() => void) | undefined {
  try {
    createFolder(directory);
    const db = lockFile(join(directory, START_LOCK_FILE));
    held.add(db);
    return () => {
      if (held.delete(db)) db.close();
    };
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw unusableError(directory, error);
  }
}

/** Who holds a data directory, as far as its files tell. */
export interface LockState {
  readonly held: boolean;
  /** What the holder wrote down, an instant after it took the lock; for people, and to know what is worth waiting for. */
  readonly pid?: number;
  readonly holder?: DataHolder;
}

/** Looks whether another process holds the directory, and leaves no trace. Never in the process that holds it. */
export function inspectDataLock(directory: string): LockState {
  const path = join(directory, LOCK_FILE);
  if (!existsSync(path) || !isHeld(path)) return { held: false };
  return { held: true, ...holderOf(directory) };
}

function isHeld(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    db.exec('PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}

const LOCKED_HINTS = {
  engine: 'stop it with `longcall engine stop`, or use another data directory',
  gateway: 'stop that process, or use another data directory',
  alone: 'stop that process, or use another data directory',
} as const satisfies Record<DataHolder, string>;

/** What a process is told that wants the directory for itself. */
export function lockedError(directory: string): LongcallError {
  const { pid, holder = 'alone' } = holderOf(directory);
  const who = pid === undefined ? 'another process' : `process ${pid}`;
  const what = holder === 'engine' ? `${who}, a background engine` : who;
  return new LongcallError(
    'LONGCALL_DATA_LOCKED',
    `the data directory ${directory} is in use by ${what}`,
    {
      hint: LOCKED_HINTS[holder],
      data: pid === undefined ? { directory } : { directory, pid },
    },
  );
}

/** For people only: the file is written after the lock is taken, and says nothing about who lives. */
function holderOf(directory: string): Pick<LockState, 'pid' | 'holder'> {
  try {
    const [number, word] = readFileSync(join(directory, PID_FILE), 'utf8').trim().split(' ');
    const pid = Number(number);
    const holder = DATA_HOLDERS.find((known) => known === word);
    if (!Number.isSafeInteger(pid) || pid <= 0) return {};
    return holder === undefined ? { pid } : { pid, holder };
  } catch {
    return {};
  }
}

function unusableError(directory: string, cause: unknown): LongcallError {
  return new LongcallError(
    'LONGCALL_DATA_UNUSABLE',
    `the data directory ${directory} cannot be used: ${messageOf(cause)}`,
    { cause, hint: 'name a directory that this user may write to', data: { directory } },
  );
}
