import type { DatabaseSync } from 'node:sqlite';
import { newId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Random } from '../../kernel/random.ts';
import type { NewEvent, StoredEvent } from '../events.ts';
import { numberAt, optionalTextAt, present, textAt } from './rows.ts';
import type { Row } from './rows.ts';

/** Writes and reads events inside the transactions of others. */
export interface EventLog {
  append(now: number, event: NewEvent): StoredEvent;
  after(sequence: number, limit: number): readonly StoredEvent[];
  ofTaskAfter(taskId: string, sequence: number, limit: number): readonly StoredEvent[];
}

const COLUMNS = 'sequence, id, at, type, tenant, actor, task_id, operation_id, reason';
const INSERT = `
  INSERT INTO events (id, at, type, tenant, actor, task_id, operation_id, reason)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  RETURNING sequence`;
const SELECT_AFTER = `SELECT ${COLUMNS} FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?`;
const SELECT_OF_TASK = `
  SELECT ${COLUMNS} FROM events WHERE task_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`;

export function createEventLog(db: DatabaseSync, random: Random): EventLog {
  const insert = db.prepare(INSERT);
  const selectAfter = db.prepare(SELECT_AFTER);
  const selectOfTask = db.prepare(SELECT_OF_TASK);
  return {
    append(now, event) {
      const id = newId('event', random);
      const { type, tenant, actor, taskId, operationId, reason } = event;
      const row = insert.get(
        id,
        now,
        type,
        tenant,
        actor,
        taskId ?? null,
        operationId ?? null,
        reason ?? null,
      );
      invariant(row !== undefined, 'an appended event has a sequence');
      return { ...event, id, at: now, sequence: numberAt(row, 'sequence') };
    },
    after: (sequence, limit) => selectAfter.all(sequence, limit).map(decodeEvent),
    ofTaskAfter: (taskId, sequence, limit) =>
      selectOfTask.all(taskId, sequence, limit).map(decodeEvent),
  };
}

function decodeEvent(row: Row): StoredEvent {
  return {
    id: textAt(row, 'id'),
    sequence: numberAt(row, 'sequence'),
    at: numberAt(row, 'at'),
    type: textAt(row, 'type'),
    tenant: textAt(row, 'tenant'),
    actor: textAt(row, 'actor'),
    ...present({
      taskId: optionalTextAt(row, 'task_id'),
      operationId: optionalTextAt(row, 'operation_id'),
      reason: optionalTextAt(row, 'reason'),
    }),
  };
}
