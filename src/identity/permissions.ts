import type { Principal } from './principal.ts';

/** What a caller may want to do with a task or a tool. */
export const VERBS = [
  'task.create',
  'task.read',
  'task.result',
  'task.answer',
  'task.cancel',
  'task.list',
  'tool.call',
  'op.read',
] as const;
export type Verb = (typeof VERBS)[number];

/** Whose record it is. */
export interface Ownership {
  readonly owner: string;
  readonly tenant: string;
}

const grants = (scope: string, verb: Verb): boolean =>
  scope === '*' || scope === verb || (scope.endsWith('.*') && verb.startsWith(scope.slice(0, -1)));

/** Whether the principal's scopes take in the verb. Anonymous callers hold no scopes; ids are their permission. */
export function hasScope(principal: Principal, verb: Verb): boolean {
  if (principal.method === 'anonymous') return verb !== 'task.list' && verb !== 'op.read';
  return principal.scopes.some((scope) => grants(scope, verb));
}

/** Owner and tenant must both be the principal's own; asked again at every operation (decision 2). */
export function owns(principal: Principal, record: Ownership): boolean {
  return record.owner === principal.key && record.tenant === principal.tenant;
}

/** Whether the principal may do this to that record. A no must look like an unknown id. */
export function mayOn(principal: Principal, verb: Verb, record: Ownership): boolean {
  return hasScope(principal, verb) && owns(principal, record);
}
