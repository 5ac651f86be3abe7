import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CALL_ENDS,
  OPERATION_MOVES,
  OPERATION_STATES,
  canOperationMove,
  hasNotHappened,
  holdsRepeats,
  stateAfterCall,
} from './operation.ts';
import type { OperationState } from './operation.ts';

const anyState = fc.constantFrom(...OPERATION_STATES);
const anyEnd = fc.constantFrom(...CALL_ENDS);

/** Every state that any run of moves can lead to. */
function reachable(from: OperationState): ReadonlySet<OperationState> {
  const seen = new Set<OperationState>([from]);
  for (const state of seen) for (const next of OPERATION_MOVES[state]) seen.add(next);
  return seen;
}

describe('the machine of an operation', () => {
  it('reaches every state from the intention, and only what was never sent is a way back to it', () => {
    expect([...reachable('intended')].sort()).toEqual([...OPERATION_STATES].sort());
    const sources = OPERATION_STATES.filter((state) => canOperationMove(state, 'intended'));
    expect(sources).toEqual(['abandoned']);
  });

  it('sends again only what the authority calls absent', () => {
    const senders = OPERATION_STATES.filter((state) => canOperationMove(state, 'dispatched'));
    expect(senders).toEqual(['intended', 'absent']);
  });

  it('abandons only what was never sent', () => {
    const sources = OPERATION_STATES.filter((state) => canOperationMove(state, 'abandoned'));
    expect(sources).toEqual(['intended']);
  });

  it('lets contradicting evidence reach every state that says something about the effect', () => {
    const silent = new Set<OperationState>(['intended', 'contradicted']);
    for (const state of OPERATION_STATES)
      expect(canOperationMove(state, 'contradicted'), state).toBe(!silent.has(state));
  });
});

describe('the end of a call', () => {
  it('never says that something happened, or did not, that only the system of record can know', () => {
    fc.assert(
      fc.property(fc.constantFrom<OperationState>('dispatched', 'unknown'), anyEnd, (from, end) => {
        const after = stateAfterCall(from, end);
        expect(['acknowledged', 'unknown']).toContain(after);
        expect(after === 'acknowledged').toBe(end === 'answered');
      }),
    );
  });

  it('abandons what was never sent, whatever the end is called', () => {
    for (const end of CALL_ENDS) expect(stateAfterCall('intended', end)).toBe('abandoned');
  });

  it('makes only allowed moves, and a second report changes nothing', () => {
    fc.assert(
      fc.property(anyState, anyEnd, (from, end) => {
        const after = stateAfterCall(from, end);
        if (after !== from) expect(canOperationMove(from, after), `${from} to ${after}`).toBe(true);
        expect(stateAfterCall(after, end)).toBe(after);
      }),
    );
  });

  it('never takes back a word of the system of record', () => {
    for (const settled of [
      'confirmed',
      'refused',
      'absent',
      'contradicted',
      'acknowledged',
    ] as const)
      for (const end of CALL_ENDS) expect(stateAfterCall(settled, end)).toBe(settled);
  });
});

describe('what a repeat of a call meets', () => {
  const AFTER_MS = 600_000;
  const held = (operation: Parameters<typeof holdsRepeats>[0], now: number): boolean =>
    holdsRepeats(operation, now, AFTER_MS);

  it('may be tried again only where it is known that nothing happened', () => {
    const free = OPERATION_STATES.filter((state) => hasNotHappened({ state }));
    expect(free.sort()).toEqual(['abandoned', 'absent']);
  });

  it('is the call that was made, until its outcome was delivered and a while', () => {
    for (const state of ['acknowledged', 'confirmed', 'refused'] as const) {
      expect(held({ state }, 1e12), 'not delivered').toBe(true);
      expect(held({ state, deliveredAt: 1000 }, 1000 + AFTER_MS - 1), 'a moment ago').toBe(true);
      expect(held({ state, deliveredAt: 1000 }, 1000 + AFTER_MS), 'long ago').toBe(false);
    }
  });

  it('is the call that was made for as long as nobody knows what became of it [D5]', () => {
    for (const reason of ['upstream_lost', 'run_limit', 'lost', 'late_loss', undefined])
      expect(held({ state: 'unknown', deliveredAt: 0, ...(reason && { reason }) }, 1e12)).toBe(
        true,
      );
    for (const state of ['intended', 'dispatched'] as const)
      expect(held({ state, deliveredAt: 0 }, 1e12)).toBe(true);
  });

  it('is let go by time where the peer itself has answered with an error', () => {
    for (const reason of ['tool_error', 'error', 'late_tool_error', 'late_error', 'internal_error'])
      expect(held({ state: 'unknown', reason, deliveredAt: 0 }, AFTER_MS)).toBe(false);
  });
});
