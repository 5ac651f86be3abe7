import { hasScope, type Verb } from '../../identity/permissions.ts';
import type { Principal } from '../../identity/principal.ts';
import { scopeMissing } from './failures.ts';

const VERB_OF_METHOD: ReadonlyMap<string, Verb> = new Map([
  ['tools/call', 'tool.call'],
  ['tasks/get', 'task.read'],
  ['tasks/result', 'task.result'],
  ['tasks/update', 'task.answer'],
  ['tasks/cancel', 'task.cancel'],
  ['tasks/list', 'task.list'],
]);

/** Refuses before any look-up, so that known and unknown ids are refused alike (T42). */
export function assertScope(principal: Principal, method: string): void {
  const verb = VERB_OF_METHOD.get(method);
  if (verb !== undefined && !hasScope(principal, verb)) throw scopeMissing(verb);
}
