import type { DatabaseSync } from 'node:sqlite';
import type { Operation } from '../../ledger/operation.ts';
import { decodeOperation, OPERATION_COLUMNS } from './operation-table.ts';

/** What the ledger does for calls that come twice. */
export interface RepeatTable {
  /** The latest operation of a whole call with these arguments. */
  latest(of: RepeatOf): Operation | undefined;
  /** Gives an operation of which nothing happened to another task; what was abandoned is intended anew. */
  hand(now: number, id: string, taskId: string): Operation | undefined;
  /** The first delivery counts; false where it was noted before, or the task is not the operation's (any more). */
  markDelivered(now: number, taskId: string): boolean;
}

export interface RepeatOf {
  readonly tenant: string;
  readonly owner: string;
  readonly fingerprint: string;
}

const SELECT_LATEST = `
  SELECT ${OPERATION_COLUMNS} FROM operations
  WHERE parent_id IS NULL AND tenant = :tenant AND owner = :owner AND arguments_digest = :fingerprint
  ORDER BY created_at DESC, seq DESC LIMIT 1`;
const HAND = `
  UPDATE operations
  SET task_id = :taskId, delivered_at = NULL, state = iif(state = 'abandoned', 'intended', state),
    updated_at = max(updated_at, :now)
  WHERE id = :id AND state IN ('abandoned', 'absent')
  RETURNING ${OPERATION_COLUMNS}`;
const MARK_DELIVERED = `
  UPDATE operations SET delivered_at = :now
  WHERE id = (SELECT operation_id FROM tasks WHERE id = :taskId AND phase = 'ended')
    AND task_id = :taskId AND delivered_at IS NULL`;

export function createRepeatTable(db: DatabaseSync): RepeatTable {
  const selectLatest = db.prepare(SELECT_LATEST);
  const hand = db.prepare(HAND);
  const markDelivered = db.prepare(MARK_DELIVERED);
  return {
    latest: ({ tenant, owner, fingerprint }) => {
      const row = selectLatest.get({ tenant, owner, fingerprint });
      return row && decodeOperation(row);
    },
    hand: (now, id, taskId) => {
      const row = hand.get({ now, id, taskId });
      return row && decodeOperation(row);
    },
    markDelivered: (now, taskId) => markDelivered.run({ now, taskId }).changes === 1,
  };
}
