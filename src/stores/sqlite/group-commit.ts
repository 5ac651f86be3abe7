import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { systemClock, type Clock, type Timer } from '../../kernel/clock.ts';
import { mayBeOneWritesFault, resultCodeOf, storeClosed, storeFailure } from './failures.ts';

/** What one caller wants done. Gets the transaction's time; runs synchronously; may be run again after a rollback. */
export type Work<T> = (now: number) => T;

/**
 * Gathers the writes of one turn of the event loop into one transaction, so that they share the wait for the disk.
 * Each promise settles after COMMIT only. A write that throws is rolled back alone and does not hurt the others.
 */
export interface GroupCommit {
  write<T>(work: Work<T>): Promise<T>;
  /**
   * A write that nobody waits for: it goes with the next transaction, or gets one of its own a moment later. Under load
   * it costs no wait for the disk; until then a death loses it, so it must be one that recovery can do without.
   */
  writeSoon<T>(work: Work<T>): Promise<T>;
  /** Runs at once. Sees committed data only, since a transaction never outlives one call of ours. */
  read<T>(work: Work<T>): Promise<T>;
  /** Commits what is waiting, then refuses everything with LONGCALL_STORE_CLOSED. */
  close(): void;
}

/** The most writes in one transaction: more would share the wait for the disk no better, and hold up the event loop. */
export const BATCH_WRITES_MAX = 128;

/** The longest that a write which nobody waits for is kept for company. */
export const SOON_MS = 20;

interface QueuedWrite {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

interface TransactionFailure {
  readonly error: unknown;
  readonly stage: 'begin' | 'work' | 'commit';
}

type TransactionEnd =
  | { readonly ok: true; readonly results: readonly unknown[] }
  | ({ readonly ok: false } & TransactionFailure);

/** `mayWrite`: asked before each transaction; what it throws is what the writes fail with. */
export function createGroupCommit(
  db: DatabaseSync,
  clock: Clock,
  mayWrite: () => void = () => undefined,
): GroupCommit {
  const transact = createTransaction(db, clock, mayWrite);
  const queue: QueuedWrite[] = [];
  let open = true;
  let scheduled = false;
  let soon: Timer | undefined;

  const schedule = (): void => {
    if (scheduled || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      commitNext();
      schedule();
    });
  };
  const scheduleSoon = (): void => {
    // The wait is for the disk's sake and no part of anybody's time, so it is never a test's clock that ends it.
    soon ??= systemClock.after(SOON_MS, schedule);
  };
  const commitNext = (): void => {
    soon?.cancel();
    soon = undefined;
    commitBatch(queue.splice(0, BATCH_WRITES_MAX), transact);
  };
  const enqueue = <T>(work: Work<T>, when: () => void): Promise<T> => {
    if (!open) return Promise.reject(storeClosed());
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      when();
    });
  };

  return {
    write: (work) => enqueue(work, schedule),
    writeSoon: (work) => enqueue(work, scheduleSoon),
    read: (work) => {
      if (!open) return Promise.reject(storeClosed());
      try {
        return Promise.resolve(work(clock.now()));
      } catch (error) {
        return Promise.reject(storeFailure(error, 'no'));
      }
    },
    close: () => {
      open = false;
      while (queue.length > 0) commitNext();
    },
  };
}

type Transact = (writes: readonly QueuedWrite[]) => TransactionEnd;

function createTransaction(db: DatabaseSync, clock: Clock, mayWrite: () => void): Transact {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  return (writes) => {
    let stage: TransactionFailure['stage'] = 'begin';
    try {
      mayWrite();
      begin.run();
      stage = 'work';
      const now = clock.now();
      const results = writes.map(({ work }) => work(now));
      stage = 'commit';
      commit.run();
      return { ok: true, results };
    } catch (error) {
      if (stage !== 'begin') abandonTransaction(rollback);
      return { ok: false, error, stage };
    }
  };
}

/** SQLite has ended the transaction itself after some failures, and then refuses to roll back. */
function abandonTransaction(rollback: StatementSync): void {
  try {
    rollback.run();
  } catch {
    // Nothing is left to roll back.
  }
}

/**
 * One transaction for all; where that fails by what may be one write's doing, one for each. A COMMIT that failed has
 * not taken effect for this connection, so the works may run again; the frames it may have left in the log are
 * overwritten by the next COMMIT that succeeds.
 */
function commitBatch(batch: readonly QueuedWrite[], transact: Transact): void {
  if (batch.length === 0) return;
  const end = transact(batch);
  if (end.ok) {
    batch.forEach(({ resolve }, index) => resolve(end.results[index]));
    return;
  }
  if (batch.length > 1 && end.stage !== 'begin' && mayBeOneWritesFault(end.error)) {
    for (const write of batch) commitBatch([write], transact);
    return;
  }
  const failure = storeFailure(end.error, writtenAfter(end));
  for (const { reject } of batch) reject(failure);
}

const CONSTRAINT = 19;

/** A disk that fails during COMMIT may have kept it all the same; a broken constraint refused it for certain. */
function writtenAfter({ error, stage }: TransactionFailure): 'no' | 'unknown' {
  return stage === 'commit' && resultCodeOf(error) !== CONSTRAINT ? 'unknown' : 'no';
}
