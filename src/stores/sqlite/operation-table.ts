import type { DatabaseSync } from 'node:sqlite';
import { invariant } from '../../kernel/invariant.ts';
import type { CallEnd, Operation, OperationState } from '../../ledger/operation.ts';
import { OPERATION_STATES, canOperationMove, stateAfterCall } from '../../ledger/operation.ts';
import type { EventLog } from './event-log.ts';
import {
  jsonAt,
  numberAt,
  optionalNumberAt,
  optionalTextAt,
  present,
  textAt,
  wordAt,
} from './rows.ts';
import type { Row } from './rows.ts';

/** The ledger's rows and their moves; each move writes its event. */
export interface OperationTable {
  insert(operation: NewRow): void;
  find(id: string): Operation | undefined;
  /** The operation of the task's whole call, while an outcome of its call can still teach something. */
  findAwaited(taskId: string): Operation | undefined;
  /** To `dispatched`; false where the state does not allow it, and then nothing may be sent. */
  dispatch(now: number, id: string): boolean;
  /** The same for the operation of a call whose effects are sent one by one: one that is dispatched stays so. */
  dispatchCall(now: number, id: string): boolean;
  /** The same for a step of such a call: what the ledger has learnt meanwhile does not stop one that was sent. */
  beginCall(now: number, id: string): boolean;
  /** The end of the call, as its task is settled with it. */
  settle(now: number, id: string, learnt: Learnt): void;
  /** Evidence from outside the settlement: never decides about a call that was not sent. */
  learn(now: number, id: string, learnt: Learnt): Operation | undefined;
}

type NewRow = Omit<
  Operation,
  'reason' | 'dispatchedAt' | 'parentId' | 'name' | 'receipt' | 'deliveredAt'
>;

export interface Learnt {
  readonly end: CallEnd;
  readonly reason: string;
}

interface Move {
  readonly operation: Operation;
  readonly to: OperationState;
  readonly reason?: string;
}

export const OPERATION_COLUMNS = `id, owner, tenant, upstream, tool, effect, state, reason, arguments_digest, task_id,
  parent_id, name, delivered_at, created_at, updated_at, dispatched_at`;
const INSERT = `
  INSERT INTO operations (id, owner, tenant, upstream, tool, effect, state, arguments_digest, task_id,
    created_at, updated_at)
  VALUES (:id, :owner, :tenant, :upstream, :tool, :effect, :state, :argumentsDigest, :taskId,
    :createdAt, :updatedAt)`;
/** Receipts are read one at a time only: they are no matter of lists. */
const SELECT = `SELECT ${OPERATION_COLUMNS}, receipt FROM operations WHERE id = ?`;
const SELECT_AWAITED = `
  SELECT ${OPERATION_COLUMNS} FROM operations
  WHERE task_id = ? AND state IN ('dispatched', 'unknown') AND parent_id IS NULL`;
const MOVE = `
  UPDATE operations
  SET state = :to, reason = coalesce(:reason, reason), updated_at = max(updated_at, :now),
    dispatched_at = iif(:to = 'dispatched', coalesce(dispatched_at, :now), dispatched_at)
  WHERE id = :id AND state = :from
  RETURNING ${OPERATION_COLUMNS}`;

export function createOperationTable(db: DatabaseSync, events: EventLog): OperationTable {
  const insert = db.prepare(INSERT);
  const select = db.prepare(SELECT);
  const selectAwaited = db.prepare(SELECT_AWAITED);
  const update = db.prepare(MOVE);

  const find = (id: string): Operation | undefined => {
    const row = select.get(id);
    return row && decodeOperation(row);
  };
  const known = (id: string): Operation => {
    const operation = find(id);
    invariant(operation !== undefined, 'the operation of a task is in the ledger');
    return operation;
  };
  const move = (now: number, { operation, to, reason }: Move): Operation => {
    const from = operation.state;
    invariant(from === to || canOperationMove(from, to), 'an operation moves as the ledger allows');
    const row = update.get({ id: operation.id, from, to, now, reason: reason ?? null });
    invariant(row !== undefined, 'an operation is where it was read in this transaction');
    const moved = decodeOperation(row);
    if (from !== to) events.append(now, movedEvent(moved, from));
    return moved;
  };

  const dispatch = (now: number, operation: Operation): boolean => {
    if (!canOperationMove(operation.state, 'dispatched')) return false;
    move(now, { operation, to: 'dispatched' });
    return true;
  };
  const learn = (now: number, id: string, { end, reason }: Learnt): Operation | undefined => {
    const operation = find(id);
    if (operation === undefined || !canLearn(operation.state)) return operation;
    return move(now, { operation, to: stateAfterCall(operation.state, end), reason });
  };

  return {
    insert: (operation) => {
      insert.run({ ...operation });
    },
    find,
    findAwaited: (taskId) => {
      const row = selectAwaited.get(taskId);
      return row && decodeOperation(row);
    },
    dispatch: (now, id) => dispatch(now, known(id)),
    dispatchCall: (now, id) => {
      const operation = known(id);
      return operation.state === 'dispatched' || dispatch(now, operation);
    },
    beginCall: (now, id) => {
      const operation = known(id);
      return dispatch(now, operation) || operation.dispatchedAt !== undefined;
    },
    settle: (now, id, { end, reason }) => {
      const operation = known(id);
      if (operation.state !== 'intended' && !canLearn(operation.state)) return;
      move(now, { operation, to: stateAfterCall(operation.state, end), reason });
    },
    learn,
  };
}

/** States in which a call's end still says something. What was not sent, or is decided, learns nothing from it. */
const canLearn = (state: OperationState): boolean => state === 'dispatched' || state === 'unknown';

function movedEvent(operation: Operation, from: OperationState) {
  const { id, tenant, taskId, state } = operation;
  const reason = `${from}->${state}`;
  return { type: 'operation.moved', tenant, actor: 'system', taskId, operationId: id, reason };
}

const EFFECTS = ['reversible', 'consequential'] as const;

export function decodeOperation(row: Row): Operation {
  const operation: Operation = {
    id: textAt(row, 'id'),
    owner: textAt(row, 'owner'),
    tenant: textAt(row, 'tenant'),
    upstream: textAt(row, 'upstream'),
    tool: textAt(row, 'tool'),
    effect: wordAt(row, { column: 'effect', of: EFFECTS }),
    state: wordAt(row, { column: 'state', of: OPERATION_STATES }),
    argumentsDigest: textAt(row, 'arguments_digest'),
    taskId: textAt(row, 'task_id'),
    createdAt: numberAt(row, 'created_at'),
    updatedAt: numberAt(row, 'updated_at'),
    ...present({
      reason: optionalTextAt(row, 'reason'),
      dispatchedAt: optionalNumberAt(row, 'dispatched_at'),
      parentId: optionalTextAt(row, 'parent_id'),
      name: optionalTextAt(row, 'name'),
      receipt: typeof row['receipt'] === 'string' ? jsonAt(row, 'receipt') : undefined,
      deliveredAt: optionalNumberAt(row, 'delivered_at'),
    }),
  };
  const unsent = operation.state === 'intended' || operation.state === 'abandoned';
  invariant(!unsent || operation.dispatchedAt === undefined, 'what was not sent has no send time');
  invariant(
    operation.updatedAt >= operation.createdAt,
    'an operation never moves before it exists',
  );
  return operation;
}
