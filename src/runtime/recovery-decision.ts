import type { EffectClass } from '../protocol/model.ts';

/** What becomes of work whose process died (decision 6). */
export const RECOVERY_DECISIONS = [
  /** A new attempt goes on watching the upstream's own task; it also carries a cancel up. */
  'observe',
  /** A new attempt does the work again. */
  'again',
  'settle-unknown',
  'settle-cancelled',
  'settle-exhausted',
] as const;
export type RecoveryDecision = (typeof RECOVERY_DECISIONS)[number];

export interface DeadWork {
  /** The stricter of what was pinned at create and what policy says now. */
  readonly effect: EffectClass;
  /** Whether any attempt has marked its first byte. */
  readonly dispatched: boolean;
  /** Whether an upstream task was journalled. */
  readonly upstreamTask: boolean;
  /** How many attempts there were that did not end in good order. */
  readonly attempts: number;
  /** Of a handler that keeps a journal: whether an effect of it was cut off. */
  readonly journal?: { readonly cutOff: boolean };
  readonly cancelRequested: boolean;
  /** Whether anybody can still come for the outcome: false for a call that its dead connection was to answer. */
  readonly held: boolean;
}

export interface RecoveryCaps {
  readonly attemptsMax: number;
  readonly observationsMax: number;
}

/**
 * Nothing is guessed: what may have happened is unknown, and only what cannot have harmed is done again. A journalled
 * handler goes on where it was, whatever its effect class: what it has finished is replayed, and what was sent without
 * an end is the one thing that nobody knows (decision 6).
 */
export function decideRecovery(work: DeadWork, caps: RecoveryCaps): RecoveryDecision {
  const wasSent = work.dispatched && work.effect !== 'read';
  const mayHaveHappened = work.journal ? work.journal.cutOff : wasSent;
  const observable = work.upstreamTask && work.attempts < caps.observationsMax;
  if (!work.held && !wasSent) return 'settle-cancelled';
  if (observable) return 'observe';
  if (work.cancelRequested) return 'settle-cancelled';
  if (mayHaveHappened) return 'settle-unknown';
  return work.attempts < caps.attemptsMax ? 'again' : 'settle-exhausted';
}

const STRICTNESS = [
  'read',
  'reversible',
  'consequential',
] as const satisfies readonly EffectClass[];

/** The effect class that allows less. A tool that is not served any more cannot have become milder. */
export function stricterEffect(stored: EffectClass, current: EffectClass | undefined): EffectClass {
  const rank = Math.max(
    STRICTNESS.indexOf(stored),
    current === undefined ? -1 : STRICTNESS.indexOf(current),
  );
  return STRICTNESS[rank] ?? 'consequential';
}
