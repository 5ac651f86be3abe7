import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { Json } from '../../kernel/json.ts';
import type { RpcError } from '../../protocol/model.ts';
import { JOURNAL_KINDS } from '../journal.ts';
import type { JournalFact } from '../journal.ts';
import { jsonAt, numberAt, objectColumn, optionalTextAt, present, textAt, wordAt } from './rows.ts';
import type { Row } from './rows.ts';

/** The facts of journals, by task and position. */
export interface JournalTable {
  /** Whether these facts come next: positions without a gap, and each end is the first of something that began. */
  fits(taskId: string, facts: readonly JournalFact[]): boolean;
  /** Adds facts that fit. */
  append(taskId: string, facts: readonly JournalFact[]): void;
  read(taskId: string): readonly JournalFact[];
}

const COLUMNS = 'position, type, name, kind, operation_id, note, ends, value, error';
const OF_TASK = 'task_seq = (SELECT tasks.seq FROM tasks WHERE tasks.id = :taskId)';
const NEXT_POSITION = `
  SELECT coalesce(max(position) + 1, 0) AS position FROM journal WHERE ${OF_TASK}`;
const IS_GOING_ON = `
  SELECT 1 FROM journal WHERE ${OF_TASK} AND position = :of AND type = 'begun'
    AND NOT EXISTS (
      SELECT 1 FROM journal AS later WHERE later.task_seq = journal.task_seq AND later.ends = :of
    )`;
const INSERT = `
  INSERT INTO journal (task_seq, ${COLUMNS})
  SELECT seq, :position, :type, :name, :kind, :operationId, :note, :ends, :value, :error
  FROM tasks WHERE id = :taskId`;
const SELECT = `SELECT ${COLUMNS} FROM journal WHERE ${OF_TASK} ORDER BY position`;

export function createJournalTable(db: DatabaseSync): JournalTable {
  const nextPosition = db.prepare(NEXT_POSITION);
  const isGoingOn = db.prepare(IS_GOING_ON);
  const insert = db.prepare(INSERT);
  const select = db.prepare(SELECT);

  const storedGoesOn = (taskId: string, of: number) => isGoingOn.get({ taskId, of }) !== undefined;
  return {
    fits(taskId, facts) {
      if (facts.length === 0) return true;
      const first = numberAt(nextPosition.get({ taskId }) ?? {}, 'position');
      if (facts.some(({ position }, index) => position !== first + index)) return false;
      const ends = facts.filter((fact) => fact.type === 'ended');
      if (new Set(ends.map(({ of }) => of)).size < ends.length) return false;
      return ends.every(({ of, position }) => {
        if (of < first) return storedGoesOn(taskId, of);
        return of < position && facts[of - first]?.type === 'begun';
      });
    },
    append(taskId, facts) {
      for (const fact of facts) {
        const { changes } = insert.run({ taskId, ...encodeFact(fact) });
        invariant(changes === 1, 'a fact is of a task that is there');
      }
    },
    read: (taskId) => select.all({ taskId }).map(decodeFact),
  };
}

const NOTHING = {
  name: null,
  kind: null,
  operationId: null,
  note: null,
  ends: null,
  value: null,
  error: null,
};

function encodeFact(fact: JournalFact) {
  const { type, position } = fact;
  if (fact.type === 'begun') {
    const { name, kind, operationId = null, note } = fact;
    return { ...NOTHING, type, position, name, kind, operationId, note: encodeJson(note) };
  }
  const { of: ends, value, error } = fact;
  return { ...NOTHING, type, position, ends, value: encodeJson(value), error: encodeJson(error) };
}

const encodeJson = (value: Json | RpcError | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);

const optionalJsonAt = (row: Row, column: string): Json | undefined =>
  row[column] === null ? undefined : jsonAt(row, column);

function decodeFact(row: Row): JournalFact {
  const position = numberAt(row, 'position');
  if (textAt(row, 'type') === 'begun') {
    return {
      type: 'begun',
      position,
      name: textAt(row, 'name'),
      kind: wordAt(row, { column: 'kind', of: JOURNAL_KINDS }),
      ...present({
        operationId: optionalTextAt(row, 'operation_id'),
        note: optionalJsonAt(row, 'note'),
      }),
    };
  }
  return {
    type: 'ended',
    position,
    of: numberAt(row, 'ends'),
    ...present({
      value: optionalJsonAt(row, 'value'),
      error: row['error'] === null ? undefined : decodeError(row),
    }),
  };
}

function decodeError(row: Row): RpcError {
  const body = objectColumn(row, 'error');
  invariant(
    typeof body['code'] === 'number' && typeof body['message'] === 'string',
    'a journalled error has a code and a message',
  );
  return body as unknown as RpcError;
}
