import type { OperationStore } from '../operations.ts';
import { pageLimit } from './limits.ts';
import { createOperationLists } from './operation-lists.ts';
import type { Session } from './session.ts';
import { mayAccess } from './visibility.ts';

export function createOperationStore({ commit, db, tables }: Session): OperationStore {
  const { operations } = tables;
  const lists = createOperationLists(db);
  return {
    get: (access, operationId) =>
      commit.read(() => {
        const operation = operations.find(operationId);
        return operation && mayAccess(access, operation) ? operation : undefined;
      }),
    list: (access, params) =>
      commit.read(() => lists.page(access, { ...params, limit: pageLimit(params.limit) })),
    addEvidence: ({ operationId, end, reason }) =>
      commit.write((now) => operations.learn(now, operationId, { end, reason })),
    counts: () => commit.read(() => lists.counts()),
  };
}
