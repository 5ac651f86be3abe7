import type { DatabaseSync } from 'node:sqlite';
import type { EventLog } from './event-log.ts';
import { numberAt } from './rows.ts';
import { TASK_COLUMNS, decodeTask } from './task-table.ts';
import { taskEvent } from './settlement.ts';

/** Takes expired records away. What hangs on a task goes with it, by the schema; operations and events stay. */
export interface Sweeping {
  sweep(now: number, limit: number): number;
  /** Ended tasks that have not expired. */
  countEnded(now: number): number;
}

const DELETE_EXPIRED = `
  DELETE FROM tasks WHERE seq IN (
    SELECT seq FROM tasks WHERE phase = 'ended' AND expires_at <= :now ORDER BY expires_at LIMIT :limit
  )
  RETURNING ${TASK_COLUMNS}`;
const COUNT_ENDED = `SELECT count(*) AS rows FROM tasks WHERE phase = 'ended' AND expires_at > ?`;

export function createSweeping(db: DatabaseSync, events: EventLog): Sweeping {
  const deleteExpired = db.prepare(DELETE_EXPIRED);
  const countEnded = db.prepare(COUNT_ENDED);
  return {
    sweep(now, limit) {
      const gone = deleteExpired.all({ now, limit }).map(decodeTask);
      for (const task of gone) events.append(now, taskEvent('task.expired', { task }));
      return gone.length;
    },
    countEnded: (now) => numberAt(countEnded.get(now) ?? {}, 'rows'),
  };
}
