import type { Operation, OperationState } from '../../ledger/operation.ts';
import type { RepeatedBy } from '../receiver.ts';

/** The member of `_meta` by which a caller says that it means another call. */
const NEW_OPERATION = '_meta["dev.longcall/newOperation"]: true';

/** How to have it done again all the same, for a caller who knows that this is what is wanted. */
const ANEW: Readonly<Record<RepeatedBy, string>> = {
  key: 'to have it done again, send another idempotency key',
  guard: `to have it done again, send ${NEW_OPERATION}`,
};

const anew = (by: RepeatedBy, when = ''): string => `; ${when}${ANEW[by]}`;

type Words = (by: RepeatedBy) => string;

/** What people and models should do, by where the operation stands (architecture §4). */
const ADVICE: Readonly<Record<OperationState, Words>> = {
  intended: () => 'it was not sent yet, and its time is up: ask again in a moment',
  dispatched: () => 'it was sent and no outcome is known: do not repeat it; find out first',
  unknown: (by) =>
    `its outcome is not known: do not repeat it; find out first${anew(by, 'only when that is settled, ')}`,
  acknowledged: (by) =>
    `it was answered, and not confirmed: do not repeat it; confirm first${anew(by)}`,
  confirmed: (by) => `it took effect: do not repeat it${anew(by)}`,
  refused: (by) => `the system of record refused it${anew(by)}`,
  contradicted: () => 'the evidence disagrees: do not repeat it; people have to settle it',
  absent: () => 'nothing happened: it may be repeated',
  abandoned: () => 'nothing happened: it may be repeated',
};

/** The record of a repeated call is gone: what the ledger knows, and what that means for sending it again. */
export const knownWords = ({ id, state }: Operation, by: RepeatedBy): string =>
  `this call was made before (operation ${id}) and nothing new was started: ${ADVICE[state](by)}`;

/** A key that stands for another call. */
export const conflictWords = (operationId: string | undefined): string => {
  const which = operationId === undefined ? '' : ` (operation ${operationId})`;
  return `the idempotency key was used before with other arguments${which}; nothing was started: send the same arguments, or another key`;
};

/** What goes with the answer of a call that was taken for a repeat although nobody gave it a key. */
export const guardWords = (operationId: string | undefined): string =>
  `this answers an earlier call with the same arguments (operation ${operationId ?? 'unknown'}); nothing new was started${anew('guard')}`;
