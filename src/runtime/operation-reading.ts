import { mayOn } from '../identity/permissions.ts';
import { accessOf, type Core } from './core.ts';
import type { Receiver } from './receiver.ts';

/** Read after the task: the ledger's side may be newer than the task's, never older. */
export function createOperationOf({ store }: Core): Receiver['operation'] {
  return async (principal, taskId) => {
    const access = accessOf(principal);
    const task = await store.tasks.get(access, taskId);
    if (!task || !mayOn(principal, 'task.read', task) || task.operationId === undefined)
      return undefined;
    return store.operations.get(access, task.operationId);
  };
}
