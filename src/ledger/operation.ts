import type { Json } from '../kernel/json.ts';

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

/**
 * The allowed moves. `contradicted` is left by people only. What was abandoned can be intended anew: nothing of it was
 * ever sent, so it is the same effect under the same key.
 */
export const OPERATION_MOVES = {
  intended: ['dispatched', 'abandoned'],
  dispatched: ['acknowledged', 'refused', 'absent', 'unknown', 'confirmed', 'contradicted'],
  acknowledged: ['confirmed', 'refused', 'contradicted'],
  unknown: ['acknowledged', 'confirmed', 'refused', 'absent', 'contradicted'],
  absent: ['dispatched', 'contradicted'],
  confirmed: ['contradicted'],
  refused: ['contradicted'],
  abandoned: ['intended', 'contradicted'],
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
  /** Of an effect inside a handler: the operation of the whole call, and the effect's name. */
  readonly parentId?: string;
  readonly name?: string;
  /** What the peer gave as proof. Never shown in lists or logs. */
  readonly receipt?: Json;
  /** When its caller provably had the call's outcome: read by a task method, or written to one who was there. */
  readonly deliveredAt?: number;
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

/** Of these it is known that nothing happened: the same effect may be tried again (architecture §4). */
const NOTHING_HAPPENED: readonly OperationState[] = ['abandoned', 'absent'];

export const hasNotHappened = ({ state }: Pick<Operation, 'state'>): boolean =>
  NOTHING_HAPPENED.includes(state);

/** Why an operation is unknown although the peer itself has spoken, also where that came late. */
const PEER_SPOKE = /^(?:late_)?(?:tool_error|error|internal_error)$/;

/** What of an operation decides whether a keyless repeat is still the same call. */
export type RepeatedOperation = Pick<Operation, 'state' | 'reason' | 'deliveredAt'>;

/**
 * Whether a keyless repeat is taken for the call that was made already (decision 4): until its outcome was delivered,
 * and a while. Work whose outcome nobody knows is never let go by time (decision 5); an error that the peer itself
 * gave is its answer.
 */
export function holdsRepeats(
  { state, reason = '', deliveredAt }: RepeatedOperation,
  now: number,
  afterDeliveryMs: number,
): boolean {
  if (state === 'intended' || state === 'dispatched') return true;
  if (state === 'unknown' && !PEER_SPOKE.test(reason)) return true;
  return deliveredAt === undefined || now - deliveredAt < afterDeliveryMs;
}
