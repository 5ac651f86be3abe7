import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { StartClaim } from '../tasks.ts';
import { optionalTextAt, present, textAt } from './rows.ts';
import type { Row } from './rows.ts';

/** What a call under a key has become: exactly one of the two is there. */
export interface FoundClaim {
  readonly fingerprint: string;
  /** Of a read; the task's record may be over and not swept yet. */
  readonly taskId?: string;
  /** Of everything else. */
  readonly operationId?: string;
}

/** Keys of calls that were made. */
export interface ClaimTable {
  find(keyHash: string): FoundClaim | undefined;
  /** For a read: the claim goes with its record. Takes the place of a claim that is there. */
  takeForTask(claim: StartClaim, taskId: string): void;
  /** For an effect: the claim stays with the ledger's row. Takes the place of a claim that is there. */
  takeForOperation(claim: StartClaim, operationId: string): void;
}

const SELECT = `
  SELECT claims.fingerprint, tasks.id AS task_id, operations.id AS operation_id
  FROM claims
  LEFT JOIN tasks ON tasks.seq = claims.task_seq
  LEFT JOIN operations ON operations.seq = claims.operation_seq
  WHERE claims.key_hash = ?`;
const REPLACE = `ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint,
    task_seq = excluded.task_seq, operation_seq = excluded.operation_seq`;
const TAKE_FOR_TASK = `
  INSERT INTO claims (key_hash, fingerprint, task_seq)
  SELECT :keyHash, :fingerprint, seq FROM tasks WHERE id = :id
  ${REPLACE}`;
const TAKE_FOR_OPERATION = `
  INSERT INTO claims (key_hash, fingerprint, operation_seq)
  SELECT :keyHash, :fingerprint, seq FROM operations WHERE id = :id
  ${REPLACE}`;

export function createClaimTable(db: DatabaseSync): ClaimTable {
  const select = db.prepare(SELECT);
  const takeForTask = db.prepare(TAKE_FOR_TASK);
  const takeForOperation = db.prepare(TAKE_FOR_OPERATION);
  return {
    find: (keyHash) => {
      const row = select.get(keyHash);
      return row && decodeClaim(row);
    },
    takeForTask: ({ keyHash, fingerprint }, id) => {
      takeForTask.run({ keyHash, fingerprint, id });
    },
    takeForOperation: ({ keyHash, fingerprint }, id) => {
      takeForOperation.run({ keyHash, fingerprint, id });
    },
  };
}

function decodeClaim(row: Row): FoundClaim {
  const taskId = optionalTextAt(row, 'task_id');
  const operationId = optionalTextAt(row, 'operation_id');
  invariant((taskId === undefined) !== (operationId === undefined), 'a claim is of one thing');
  return { fingerprint: textAt(row, 'fingerprint'), ...present({ taskId, operationId }) };
}
