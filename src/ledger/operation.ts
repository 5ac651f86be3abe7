/** Where an intended effect stands. Never derived from a task's status (architecture §4). */
export const OPERATION_STATES = [
  'intended',
  'dispatched',
  'acknowledged',
  'confirmed',
  'refused',
  'absent',
  'unknown',
  'abandoned',
  'contradicted',
] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

/** The allowed moves. `contradicted` is left by people only. */
export const OPERATION_MOVES = {
  intended: ['dispatched', 'abandoned'],
  dispatched: ['acknowledged', 'refused', 'absent', 'unknown', 'confirmed', 'contradicted'],
  acknowledged: ['confirmed', 'refused', 'contradicted'],
  unknown: ['acknowledged', 'confirmed', 'refused', 'absent', 'contradicted'],
  absent: ['dispatched', 'contradicted'],
  confirmed: ['contradicted'],
  refused: ['contradicted'],
  abandoned: ['contradicted'],
  contradicted: ['confirmed', 'refused', 'absent'],
} as const satisfies Record<OperationState, readonly OperationState[]>;

export function canOperationMove(from: OperationState, to: OperationState): boolean {
  return (OPERATION_MOVES[from] as readonly OperationState[]).includes(to);
}

/** One intended business effect. Times are ms since the epoch by the store's clock. */
export interface Operation {
  readonly id: string;
  readonly owner: string;
  readonly tenant: string;
  readonly upstream: string;
  readonly tool: string;
  readonly effect: 'reversible' | 'consequential';
  readonly state: OperationState;
  /** Why it stands there, in one word for programs: `lost`, `answered`, `tool_error`, `cancelled`, `late_answer`… */
  readonly reason?: string;
  /** SHA-256 over canonical JSON of tool and arguments, keyed per installation. Never the arguments themselves. */
  readonly argumentsDigest: string;
  readonly taskId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly dispatchedAt?: number;
}

/** What ended the run of an operation's call, as far as the caller of the upstream could see. */
export const CALL_ENDS = [
  'answered',
  'tool_error',
  'error',
  'lost',
  'cancelled',
  'run_limit',
] as const;
export type CallEnd = (typeof CALL_ENDS)[number];

/**
 * Where an operation goes when its call ends. An answer is only a peer's word, an error proves nothing, silence is
 * unknown; what was never sent cannot have happened.
 */
export function stateAfterCall(from: OperationState, end: CallEnd): OperationState {
  if (from === 'intended') return 'abandoned';
  if (from !== 'dispatched' && from !== 'unknown') return from;
  return end === 'answered' ? 'acknowledged' : 'unknown';
}
