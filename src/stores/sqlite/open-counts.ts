import type { DatabaseSync } from 'node:sqlite';
import type { Task } from '../../protocol/model.ts';
import type { OpenLimits } from '../tasks.ts';
import { numberAt } from './rows.ts';

/** A limit that is reached, with what is open under it. */
export interface ReachedLimit {
  readonly limit: keyof OpenLimits;
  readonly open: number;
}

/** How many tasks are open; the schema's triggers keep count. */
export interface OpenCounts {
  total(): number;
  /** The narrowest limit that another task would break. */
  reached(owner: Pick<Task, 'tenant' | 'owner'>, limits: OpenLimits): ReachedLimit | undefined;
}

const SELECT = 'SELECT open FROM open_tasks WHERE tenant = ? AND owner = ?';

export function createOpenCounts(db: DatabaseSync): OpenCounts {
  const select = db.prepare(SELECT);
  const openOf = (tenant: string, owner: string): number => {
    const row = select.get(tenant, owner);
    return row === undefined ? 0 : numberAt(row, 'open');
  };
  return {
    total: () => openOf('', ''),
    reached({ tenant, owner }, limits) {
      const counts: readonly ReachedLimit[] = [
        { limit: 'perPrincipal', open: openOf(tenant, owner) },
        { limit: 'perTenant', open: openOf(tenant, '') },
        { limit: 'total', open: openOf('', '') },
      ];
      return counts.find(({ limit, open }) => open >= limits[limit]);
    },
  };
}
