import type { DatabaseSync } from 'node:sqlite';
import type { Attempt, WakeUp } from '../attempts.ts';
import { optionalNumberAt, textAt } from './rows.ts';

/** Attempts that wait in the store for an answer or a time. They have a place in the queue, and hold nothing. */
export interface SleepTable {
  /** Stores the attempt that follows on an ended one, in the turn that one had, asleep until its wake-up. */
  parkNext(previous: Attempt, wakeUp: WakeUp): void;
  /** Queues the task's parked attempt; false where there is none, or it waits for something else. */
  wake(taskId: string, by: WokenBy): boolean;
  /** Queues attempts whose time has come, those longest due first, and says whose they are. */
  wakeDue(now: number, limit: number): readonly string[];
  nextWakeAt(): number | undefined;
}

/** `answers`: no question is open any more. `cancel`: whatever it waits for. */
export type WokenBy = 'answers' | 'cancel';

const OF_TASK = 'task_seq = (SELECT tasks.seq FROM tasks WHERE tasks.id = :taskId)';
const PARK_NEXT = `
  INSERT INTO attempts (id, task_seq, tool, slot, number, epoch, state, upstream_task, wake_on_answers, wake_at)
  SELECT :attemptId, task_seq, tool, slot, number + 1, epoch, 'parked', upstream_task, :onAnswers, :at
  FROM attempts WHERE ${OF_TASK} AND number = :number`;
const AWAKE = `state = 'queued', wake_on_answers = NULL, wake_at = NULL`;
/** The words about the end are those of the index on the one attempt of a task that has not ended. */
const WAKE = `
  UPDATE attempts SET ${AWAKE}
  WHERE ${OF_TASK} AND state <> 'ended' AND state = 'parked' AND (:by = 'cancel' OR wake_on_answers = 1)`;
const WAKE_DUE = `
  UPDATE attempts SET ${AWAKE}
  WHERE seq IN (
    SELECT seq FROM attempts WHERE wake_at IS NOT NULL AND wake_at <= :now ORDER BY wake_at LIMIT :limit
  )
  RETURNING (SELECT tasks.id FROM tasks WHERE tasks.seq = task_seq) AS task_id`;
const NEXT_WAKE_AT = 'SELECT min(wake_at) AS at FROM attempts WHERE wake_at IS NOT NULL';

export function createSleepTable(db: DatabaseSync): SleepTable {
  const parkNext = db.prepare(PARK_NEXT);
  const wake = db.prepare(WAKE);
  const wakeDue = db.prepare(WAKE_DUE);
  const nextWakeAt = db.prepare(NEXT_WAKE_AT);
  return {
    parkNext: ({ taskId, number }, { nextAttemptId: attemptId, onAnswers, at = null }) => {
      parkNext.run({ attemptId, taskId, number, onAnswers: onAnswers ? 1 : null, at });
    },
    wake: (taskId, by) => wake.run({ taskId, by }).changes === 1,
    wakeDue: (now, limit) => wakeDue.all({ now, limit }).map((row) => textAt(row, 'task_id')),
    nextWakeAt: () => optionalNumberAt(nextWakeAt.get() ?? { at: null }, 'at'),
  };
}
