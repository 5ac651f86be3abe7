import type { DatabaseSync } from 'node:sqlite';
import type { Operation, OperationState } from '../../ledger/operation.ts';
import { OPERATION_STATES } from '../../ledger/operation.ts';
import type { Access } from '../access.ts';
import type { ListOperations } from '../operations.ts';
import { idRange } from './id-range.ts';
import { OPERATION_COLUMNS, decodeOperation } from './operation-table.ts';
import { numberAt, textAt } from './rows.ts';

/** Pages of operations, newest first, and how many stand where. */
export interface OperationLists {
  page(access: Access, params: ListOperations): readonly Operation[];
  counts(): Readonly<Record<OperationState, number>>;
}

const SELECT = `SELECT ${OPERATION_COLUMNS} FROM operations`;
const PAGE = `
  (created_at, id) < (:createdAt, :id) AND (:state IS NULL OR state = :state)
  AND (:tool IS NULL OR tool = :tool) AND (:tenant IS NULL OR tenant = :tenant)`;
const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC LIMIT :limit';

const LIST_ALL = `${SELECT} WHERE ${PAGE} ${NEWEST_FIRST}`;
const LIST_STATE = `${SELECT} WHERE state = :state AND ${PAGE} ${NEWEST_FIRST}`;
const LIST_OF_OWNER = `
  ${SELECT} WHERE tenant = :tenant AND owner = :owner AND ${PAGE} ${NEWEST_FIRST}`;
/** A range of the index on ids, sorted: who types the start of an id means one operation, or a few. */
const LIST_NAMED = `
  ${SELECT}
  WHERE id >= :idFrom AND id < :idTo AND (:owner IS NULL OR owner = :owner) AND ${PAGE}
  ORDER BY +created_at DESC, id DESC LIMIT :limit`;
const COUNT = 'SELECT state, count(*) AS rows FROM operations GROUP BY state';

export function createOperationLists(db: DatabaseSync): OperationLists {
  const listAll = db.prepare(LIST_ALL);
  const listState = db.prepare(LIST_STATE);
  const listOfOwner = db.prepare(LIST_OF_OWNER);
  const listNamed = db.prepare(LIST_NAMED);
  const count = db.prepare(COUNT);
  return {
    page: (access, params) => {
      const page = pageOf(params);
      const { owner = null, tenant = params.tenant ?? null } = access === 'system' ? {} : access;
      if (params.idPrefix !== undefined) {
        const named = { ...page, owner, tenant, ...idRange(params.idPrefix) };
        return listNamed.all(named).map(decodeOperation);
      }
      if (owner !== null) return listOfOwner.all({ ...page, owner, tenant }).map(decodeOperation);
      const statement = params.state === undefined ? listAll : listState;
      return statement.all({ ...page, tenant }).map(decodeOperation);
    },
    counts: () => {
      const zero = Object.fromEntries(OPERATION_STATES.map((state) => [state, 0]));
      const found = count.all().map((row) => [textAt(row, 'state'), numberAt(row, 'rows')]);
      return { ...zero, ...Object.fromEntries(found) } as Record<OperationState, number>;
    },
  };
}

function pageOf({ after, limit, state, tool }: ListOperations) {
  return {
    createdAt: after?.createdAt ?? Number.MAX_SAFE_INTEGER,
    id: after?.id ?? '',
    limit,
    state: state ?? null,
    tool: tool ?? null,
  };
}
