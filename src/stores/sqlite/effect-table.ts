import type { DatabaseSync } from 'node:sqlite';
import type { Operation } from '../../ledger/operation.ts';
import type { Task } from '../../protocol/model.ts';
import type { NewEffect } from '../journal.ts';
import type { EventLog } from './event-log.ts';
import { OPERATION_COLUMNS, decodeOperation } from './operation-table.ts';
import type { Learnt, OperationTable } from './operation-table.ts';

/** Effects inside handlers: rows of the ledger that belong to the operation of their call, and receipts. */
export interface EffectTable {
  /** Inserts an effect as sent. */
  insert(now: number, effect: EffectOfTask): void;
  isNamed(parentId: string, name: string): boolean;
  /** At the end of a call: what has no receipt is unknown until one comes. */
  endWithoutReceipt(now: number, parentId: string): void;
  /** Evidence with the peer's proof, about whatever was sent. */
  takeReceipt(now: number, id: string, received: Received): Operation | undefined;
}

export interface EffectOfTask {
  readonly task: Task;
  readonly effect: NewEffect;
}

export interface Received extends Learnt {
  /** As JSON. */
  readonly receipt: string | undefined;
}

export interface EffectTableParts {
  readonly operations: OperationTable;
  readonly events: EventLog;
}

const INSERT = `
  INSERT INTO operations (id, owner, tenant, upstream, tool, effect, state, arguments_digest, task_id,
    parent_id, name, created_at, updated_at, dispatched_at)
  VALUES (:id, :owner, :tenant, :upstream, :tool, :effect, 'dispatched', :argumentsDigest, :taskId,
    :parentId, :name, :now, :now, :now)`;
const IS_NAMED = 'SELECT 1 FROM operations WHERE parent_id = :parentId AND name = :name';
const SELECT_WITHOUT_RECEIPT = `
  SELECT ${OPERATION_COLUMNS} FROM operations WHERE parent_id = ? AND state = 'dispatched'`;
const SET_RECEIPT = `
  UPDATE operations
  SET receipt = iif(:replace = 1, :receipt, coalesce(receipt, :receipt)), updated_at = max(updated_at, :now)
  WHERE id = :id`;

/** Why an effect is unknown whose call has ended before it was answered. */
const NO_RECEIPT = 'no_receipt';

export function createEffectTable(
  db: DatabaseSync,
  { operations, events }: EffectTableParts,
): EffectTable {
  const insert = db.prepare(INSERT);
  const isNamed = db.prepare(IS_NAMED);
  const selectWithoutReceipt = db.prepare(SELECT_WITHOUT_RECEIPT);
  const setReceipt = db.prepare(SET_RECEIPT);
  return {
    insert: (now, { task, effect: { id, name, parentId, argumentsDigest, effect } }) => {
      const { id: taskId, owner, tenant, upstream, tool } = task;
      const place = { taskId, owner, tenant, upstream, tool };
      insert.run({ ...place, id, name, parentId, argumentsDigest, effect, now });
      events.append(now, ledgerEvent('operation.dispatched', { id, tenant, taskId }));
    },
    isNamed: (parentId, name) => isNamed.get({ parentId, name }) !== undefined,
    endWithoutReceipt: (now, parentId) => {
      for (const { id } of selectWithoutReceipt.all(parentId).map(decodeOperation)) {
        operations.learn(now, id, { end: 'lost', reason: NO_RECEIPT });
      }
    },
    takeReceipt: (now, id, { end, reason, receipt }) => {
      const before = operations.find(id);
      if (before?.dispatchedAt === undefined) return before;
      const after = operations.learn(now, id, { end, reason });
      if (receipt !== undefined) {
        setReceipt.run({ id, now, receipt, replace: Number(after?.state !== before.state) });
      }
      events.append(now, ledgerEvent('operation.receipt', before, reason));
      return operations.find(id);
    },
  };
}

/** An effect's name is its handler's word, so it stays out of the trail; the operation's row has it. */
function ledgerEvent(
  type: string,
  { id: operationId, tenant, taskId }: Pick<Operation, 'id' | 'tenant' | 'taskId'>,
  reason?: string,
) {
  const event = { type, tenant, actor: 'system', taskId, operationId };
  return reason === undefined ? event : { ...event, reason };
}
