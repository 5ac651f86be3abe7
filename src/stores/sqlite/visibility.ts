import type { Task } from '../../protocol/model.ts';
import { expiresAt } from '../../protocol/model.ts';
import type { Access } from '../access.ts';

interface Owned {
  readonly owner: string;
  readonly tenant: string;
}

/** Owner and tenant must both fit; `system` may see everything. */
export function mayAccess(access: Access, record: Owned): boolean {
  return access === 'system' || (record.owner === access.owner && record.tenant === access.tenant);
}

export const isOverdue = (task: Task, now: number): boolean => expiresAt(task) <= now;

/**
 * The one rule of logical expiry (decision 9, E3): at its time a record is gone for its owner, and an ended one for
 * everybody. Open work stays visible to `system`, which has to end it.
 */
export function isVisible(task: Task, access: Access, now: number): boolean {
  if (!mayAccess(access, task)) return false;
  return !isOverdue(task, now) || (access === 'system' && task.phase !== 'ended');
}

/** Who did it, for the event log. */
export const actorOf = (access: Access): string => (access === 'system' ? 'system' : access.owner);
