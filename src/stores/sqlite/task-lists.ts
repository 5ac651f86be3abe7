import type { DatabaseSync } from 'node:sqlite';
import type { Task } from '../../protocol/model.ts';
import type { Access } from '../access.ts';
import type { ListTasks } from '../tasks.ts';
import { idRange } from './id-range.ts';
import { TASK_COLUMNS, decodeTask } from './task-table.ts';

/** Pages of tasks, newest first, and the sets that sweeping and recovery work through. */
export interface TaskLists {
  page(access: Access, now: number, params: ListTasks): readonly Task[];
  overdueIds(now: number, limit: number): readonly string[];
}

/** The row-value comparison is what the indexes on (created_at, id) are for: no page costs more than another. */
const PAGE = `
  (created_at, id) < (:createdAt, :id)
  AND (:tool IS NULL OR tool = :tool)
  AND (:ended IS NULL OR (phase = 'ended') = :ended)`;
const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC LIMIT :limit';
const OF_OWNER = 'tenant = :tenant AND owner = :owner AND expires_at > :now';
/** Open work stays on the operators' list until it is ended, overdue or not. */
const OF_ANYONE = `(expires_at > :now OR phase <> 'ended') AND (:tenant IS NULL OR tenant = :tenant)`;

/**
 * A handle that may be on its way counts: its owner may read the list before we know that it arrived (G1-78). So does
 * that of a plain call whose repeat took one.
 */
const WITH_HANDLE = `(handle = 'given' OR (origin <> 'plain' AND handle = 'pending'))`;

const LIST_OF_OWNER = `SELECT ${TASK_COLUMNS} FROM tasks WHERE ${OF_OWNER} AND ${PAGE} ${NEWEST_FIRST}`;
const LIST_WITH_HANDLE = `
  SELECT ${TASK_COLUMNS} FROM tasks INDEXED BY tasks_with_handle
  WHERE ${WITH_HANDLE} AND ${OF_OWNER} AND ${PAGE} ${NEWEST_FIRST}`;
const LIST_ALL = `
  SELECT ${TASK_COLUMNS} FROM tasks
  WHERE ${OF_ANYONE} AND (:withHandle = 0 OR (${WITH_HANDLE})) AND ${PAGE} ${NEWEST_FIRST}`;
/** Open tasks are few beside the ended ones: sorting them beats walking through all by age. */
const LIST_OPEN = `
  SELECT ${TASK_COLUMNS} FROM tasks INDEXED BY tasks_open
  WHERE phase <> 'ended' AND ${OF_ANYONE} AND (:withHandle = 0 OR (${WITH_HANDLE})) AND ${PAGE}
  ${NEWEST_FIRST}`;
/** A range of the index on ids, sorted: who types the start of an id means one task, or a few. */
const LIST_NAMED = `
  SELECT ${TASK_COLUMNS} FROM tasks
  WHERE id >= :idFrom AND id < :idTo AND (:owner IS NULL OR (owner = :owner AND expires_at > :now))
    AND ${OF_ANYONE} AND (:withHandle = 0 OR (${WITH_HANDLE})) AND ${PAGE}
  ORDER BY +created_at DESC, id DESC LIMIT :limit`;
const LIST_OVERDUE = `
  SELECT id FROM tasks WHERE phase <> 'ended' AND expires_at <= ? ORDER BY expires_at LIMIT ?`;

export function createTaskLists(db: DatabaseSync): TaskLists {
  const listOfOwner = db.prepare(LIST_OF_OWNER);
  const listWithHandle = db.prepare(LIST_WITH_HANDLE);
  const listAll = db.prepare(LIST_ALL);
  const listOpen = db.prepare(LIST_OPEN);
  const listNamed = db.prepare(LIST_NAMED);
  const listOverdue = db.prepare(LIST_OVERDUE);
  return {
    page(access, now, params) {
      const page = pageOf(now, params);
      const withHandle = Number(params.withHandle);
      const { owner = null, tenant = params.tenant ?? null } = access === 'system' ? {} : access;
      if (params.idPrefix !== undefined) {
        const named = { ...page, withHandle, owner, tenant, ...idRange(params.idPrefix) };
        return listNamed.all(named).map(decodeTask);
      }
      if (owner !== null) {
        const statement = params.withHandle ? listWithHandle : listOfOwner;
        return statement.all({ ...page, owner, tenant }).map(decodeTask);
      }
      const statement = params.phase === 'open' ? listOpen : listAll;
      return statement.all({ ...page, withHandle, tenant }).map(decodeTask);
    },
    overdueIds: (now, limit) => listOverdue.all(now, limit).map((row) => String(row['id'])),
  };
}

function pageOf(now: number, { after, limit, phase, tool }: ListTasks) {
  return {
    now,
    createdAt: after?.createdAt ?? Number.MAX_SAFE_INTEGER,
    id: after?.id ?? '',
    limit,
    ended: phase === undefined ? null : Number(phase === 'ended'),
    tool: tool ?? null,
  };
}
