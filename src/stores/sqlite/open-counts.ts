import type { DatabaseSync } from 'node:sqlite';
import type { Task } from '../../protocol/model.ts';
import type { CreateTask, KeptBytes, OpenLimits } from '../tasks.ts';
import { numberAt } from './rows.ts';
import { keptBytesOf } from './task-table.ts';

/** A limit that is reached, with what there is under it. */
export interface ReachedLimit {
  readonly limit: keyof OpenLimits;
  readonly open: number;
}

/** How many tasks are open and what is kept; the schema's triggers keep count. */
export interface OpenCounts {
  total(): number;
  kept(of: Owner): KeptBytes;
  /** The narrowest limit that another task would break. */
  reached(create: Pick<CreateTask, 'task' | 'request' | 'limits'>): ReachedLimit | undefined;
}

type Owner = Pick<Task, 'tenant' | 'owner'>;

interface Usage {
  readonly open: number;
  readonly bytes: number;
}

/** One limit beside what there is and what the task would add. */
interface Measure extends ReachedLimit {
  readonly more: number;
  readonly most: number | undefined;
}

const NOTHING: Usage = { open: 0, bytes: 0 };

const SELECT = 'SELECT open, bytes FROM usage WHERE tenant = ? AND owner = ?';
const COUNT_QUEUED = `
  SELECT count(*) AS rows FROM attempts WHERE state = 'queued' AND tool = ?`;
const COUNT_RUNNING = `
  SELECT count(*) AS rows FROM attempts WHERE state = 'running' AND tool = ?`;

export function createOpenCounts(db: DatabaseSync): OpenCounts {
  const select = db.prepare(SELECT);
  const countQueued = db.prepare(COUNT_QUEUED);
  const countRunning = db.prepare(COUNT_RUNNING);
  const usageOf = (tenant: string, owner: string): Usage => {
    const row = select.get(tenant, owner);
    return row === undefined
      ? NOTHING
      : { open: numberAt(row, 'open'), bytes: numberAt(row, 'bytes') };
  };
  /** Who is queued while there are places is about to start, and does not wait for one. */
  const waitingOf = (tool: string, { placesOfTool = 0 }: OpenLimits): number => {
    const running = numberAt(countRunning.get(tool) ?? {}, 'rows');
    const free = Math.max(0, placesOfTool - running);
    return numberAt(countQueued.get(tool) ?? {}, 'rows') - free;
  };
  return {
    total: () => usageOf('', '').open,
    kept: ({ tenant, owner }) => ({
      ofPrincipal: usageOf(tenant, owner).bytes,
      ofTenant: usageOf(tenant, '').bytes,
      total: usageOf('', '').bytes,
    }),
    reached({ task: { tenant, owner, tool }, request, limits }) {
      const scopes = [usageOf(tenant, owner), usageOf(tenant, ''), usageOf('', '')] as const;
      const open =
        openMeasures(scopes, limits).find(isBroken) ?? bytesReached(scopes, request, limits);
      if (open !== undefined) return { limit: open.limit, open: open.open };
      // What waits is open: below the limit in all, nothing has to be counted, however long the queue of a tool is.
      if (limits.queuedOfTool === undefined || scopes[2].open < limits.queuedOfTool)
        return undefined;
      const waiting = waitingOf(tool, limits);
      return waiting < limits.queuedOfTool ? undefined : { limit: 'queuedOfTool', open: waiting };
    },
  };
}

type Scopes = readonly [ofPrincipal: Usage, ofTenant: Usage, total: Usage];

const isBroken = ({ open, more, most }: Measure): boolean =>
  most !== undefined && open + more > most;

function openMeasures([principal, tenant, total]: Scopes, limits: OpenLimits): readonly Measure[] {
  return [
    { limit: 'perPrincipal', open: principal.open, more: 1, most: limits.perPrincipal },
    { limit: 'perTenant', open: tenant.open, more: 1, most: limits.perTenant },
    { limit: 'total', open: total.open, more: 1, most: limits.total },
  ];
}

function bytesReached(
  [principal, tenant, total]: Scopes,
  request: CreateTask['request'],
  limits: OpenLimits,
): Measure | undefined {
  const { bytesPerPrincipal, bytesPerTenant, bytesTotal } = limits;
  if ((bytesPerPrincipal ?? bytesPerTenant ?? bytesTotal) === undefined) return undefined;
  const more = keptBytesOf(request);
  const measures: readonly Measure[] = [
    { limit: 'bytesPerPrincipal', open: principal.bytes, more, most: bytesPerPrincipal },
    { limit: 'bytesPerTenant', open: tenant.bytes, more, most: bytesPerTenant },
    { limit: 'bytesTotal', open: total.bytes, more, most: bytesTotal },
  ];
  return measures.find(isBroken);
}
