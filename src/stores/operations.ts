import type { CallEnd, Operation, OperationState } from '../ledger/operation.ts';
import type { Access } from './access.ts';

export interface ListOperations {
  readonly after?: { readonly createdAt: number; readonly id: string };
  /** 1 to 200. */
  readonly limit: number;
  readonly state?: OperationState;
  readonly tool?: string;
  readonly tenant?: string;
  /** Only ids that begin with this, compared byte by byte (no wildcards). For operators. */
  readonly idPrefix?: string;
}

/** What was learnt about an operation after its task was settled, from any epoch, at any time. */
export interface OperationEvidence {
  readonly operationId: string;
  readonly end: CallEnd;
  readonly reason: string;
}

/** The ledger. Rows outlive their tasks; creating, dispatching and settling happen in the task's and attempt's methods. */
export interface OperationStore {
  get(access: Access, operationId: string): Promise<Operation | undefined>;
  list(access: Access, params: ListOperations): Promise<readonly Operation[]>;
  addEvidence(evidence: OperationEvidence): Promise<Operation | undefined>;
  counts(): Promise<Readonly<Record<OperationState, number>>>;
}
