import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EFFECT_CLASSES } from '../protocol/model.ts';
import {
  RECOVERY_DECISIONS,
  decideRecovery,
  stricterEffect,
  type DeadWork,
  type RecoveryDecision,
} from './recovery-decision.ts';

const CAPS = { attemptsMax: 3, observationsMax: 20 };

const anyWork: fc.Arbitrary<DeadWork> = fc.record({
  effect: fc.constantFrom(...EFFECT_CLASSES),
  dispatched: fc.boolean(),
  upstreamTask: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 40 }),
  cancelRequested: fc.boolean(),
  held: fc.boolean(),
});
const journalled: fc.Arbitrary<DeadWork> = fc
  .tuple(anyWork, fc.boolean())
  .map(([work, cutOff]) => ({ ...work, upstreamTask: false, journal: { cutOff } }));
type Check = (work: DeadWork, decision: RecoveryDecision) => void;
const forAll = (check: Check): void =>
  fc.assert(
    fc.property(anyWork, (work) => {
      check(work, decideRecovery(work, CAPS));
    }),
  );

describe('what becomes of dead work', () => {
  it('is decided for every case', () => {
    forAll((_work, decision) => expect(RECOVERY_DECISIONS).toContain(decision));
  });

  it('is never done again where it may have happened', () => {
    forAll((work, decision) => {
      if (work.dispatched && work.effect !== 'read') expect(decision).not.toBe('again');
    });
  });

  it('is never called cancelled without a word where it may have happened, unless that was asked for', () => {
    forAll((work, decision) => {
      if (work.dispatched && work.effect !== 'read' && !work.cancelRequested)
        expect(['observe', 'settle-unknown']).toContain(decision);
    });
  });

  it('is never done again for nobody, nor after a cancel, nor more often than the cap', () => {
    forAll((work, decision) => {
      if (!work.held || work.cancelRequested || work.attempts >= CAPS.attemptsMax)
        expect(decision).not.toBe('again');
    });
  });

  it('ends at last: nothing is observed or tried without end', () => {
    forAll((work, decision) => {
      if (work.attempts >= CAPS.observationsMax) expect(decision).toMatch(/^settle-/);
    });
  });

  it('of a journalled handler goes on where it was, whatever it may do, unless an effect was cut off', () => {
    fc.assert(
      fc.property(journalled, (work) => {
        const decision = decideRecovery(work, CAPS);
        const wanted = work.held && !work.cancelRequested;
        if (work.journal?.cutOff) expect(decision).not.toBe('again');
        else if (wanted && work.attempts < CAPS.attemptsMax) expect(decision).toBe('again');
      }),
    );
  });

  it.each<readonly [string, Partial<DeadWork>, string]>([
    [
      'a journalled payment whose effects have all ended',
      { effect: 'consequential', dispatched: true, journal: { cutOff: false } },
      'again',
    ],
    [
      'a journalled payment that was cut off',
      { effect: 'consequential', dispatched: true, journal: { cutOff: true } },
      'settle-unknown',
    ],
    [
      'a journalled payment that nobody waits for finishes into the ledger',
      { effect: 'consequential', dispatched: true, held: false, journal: { cutOff: false } },
      'again',
    ],
    ['a read that was sent', { dispatched: true }, 'again'],
    ['a payment that was never sent', { effect: 'consequential' }, 'again'],
    ['a payment that was sent', { effect: 'consequential', dispatched: true }, 'settle-unknown'],
    ['a draft that was sent', { effect: 'reversible', dispatched: true }, 'settle-unknown'],
    [
      'a payment that the upstream runs as a task',
      { effect: 'consequential', dispatched: true, upstreamTask: true },
      'observe',
    ],
    [
      'the same, to be cancelled',
      { effect: 'consequential', dispatched: true, upstreamTask: true, cancelRequested: true },
      'observe',
    ],
    ['a read that died for the third time', { dispatched: true, attempts: 3 }, 'settle-exhausted'],
    ['a read to be cancelled', { dispatched: true, cancelRequested: true }, 'settle-cancelled'],
    ['a read that nobody waits for', { dispatched: true, held: false }, 'settle-cancelled'],
    [
      'a payment that nobody waits for and was never sent',
      { effect: 'consequential', held: false },
      'settle-cancelled',
    ],
    [
      'a payment that nobody waits for and was sent',
      { effect: 'consequential', dispatched: true, held: false },
      'settle-unknown',
    ],
  ])('%s: %#', (_what, work, decision) => {
    const plain: DeadWork = {
      effect: 'read',
      dispatched: false,
      upstreamTask: false,
      attempts: 1,
      cancelRequested: false,
      held: true,
    };
    expect(decideRecovery({ ...plain, ...work }, CAPS)).toBe(decision);
  });
});

describe('the stricter of two effect classes', () => {
  it('is the one that allows less, however they are ordered', () => {
    const anyEffect = fc.constantFrom(...EFFECT_CLASSES);
    fc.assert(
      fc.property(anyEffect, anyEffect, (stored, current) => {
        const rank = (effect: (typeof EFFECT_CLASSES)[number]) => EFFECT_CLASSES.indexOf(effect);
        expect(rank(stricterEffect(stored, current))).toBe(Math.max(rank(stored), rank(current)));
      }),
    );
  });

  it('is the stored one for a tool that is not served any more', () => {
    for (const effect of EFFECT_CLASSES) expect(stricterEffect(effect, undefined)).toBe(effect);
  });
});
