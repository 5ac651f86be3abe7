import type { DatabaseSync } from 'node:sqlite';
import type { EventLog } from './event-log.ts';
import { numberAt } from './rows.ts';
import { TASK_COLUMNS, decodeTask } from './task-table.ts';
import { taskEvent } from './settlement.ts';

/** Takes expired records away. What hangs on a task goes with it, by the schema; operations and events stay. */
export interface Sweeping {
  /** How many records went: fewer than there are, where journals have to go first. */
  sweep(now: number, limit: number): number;
  /** Ended tasks that have not expired. */
  countEnded(now: number): number;
}

/** The most facts of journals that one transaction deletes: as long as a round of records without any takes. */
const FACTS_MAX = 2_000;

const EXPIRED = `
  SELECT seq FROM tasks WHERE phase = 'ended' AND expires_at <= :now ORDER BY expires_at LIMIT :limit`;
/** A journal may be longer than a transaction should take: it goes first, in pieces. */
const DELETE_FACTS = `
  DELETE FROM journal WHERE seq IN (
    SELECT seq FROM journal WHERE task_seq IN (${EXPIRED}) LIMIT ${FACTS_MAX}
  )`;
const DELETE_EXPIRED = `
  DELETE FROM tasks
  WHERE seq IN (${EXPIRED}) AND NOT EXISTS (SELECT 1 FROM journal WHERE task_seq = tasks.seq)
  RETURNING ${TASK_COLUMNS}`;
const COUNT_ENDED = `SELECT count(*) AS rows FROM tasks WHERE phase = 'ended' AND expires_at > ?`;

export function createSweeping(db: DatabaseSync, events: EventLog): Sweeping {
  const deleteFacts = db.prepare(DELETE_FACTS);
  const deleteExpired = db.prepare(DELETE_EXPIRED);
  const countEnded = db.prepare(COUNT_ENDED);
  return {
    sweep(now, limit) {
      deleteFacts.run({ now, limit });
      const gone = deleteExpired.all({ now, limit }).map(decodeTask);
      for (const task of gone) events.append(now, taskEvent('task.expired', { task }));
      return gone.length;
    },
    countEnded: (now) => numberAt(countEnded.get(now) ?? {}, 'rows'),
  };
}
