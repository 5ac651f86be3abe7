import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../kernel/manual-clock.ts';
import { createTimeBudget } from './time-budget.ts';

describe('a time budget', () => {
  it('is spent by running time alone, whatever is paused, nested and jumped meanwhile', () => {
    const anyStep = fc.record({
      ms: fc.integer({ min: 0, max: 300 }),
      jumpMs: fc.integer({ min: -1e6, max: 1e6 }),
      what: fc.constantFrom('pause', 'resume', 'none'),
    });
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
        const clock = createManualClock();
        let spentAt: number | undefined;
        let ran = 0;
        let pauses = 0;
        const budget = createTimeBudget(clock, 1_000, () => (spentAt ??= ran));
        for (const { ms, jumpMs, what } of steps) {
          if (what === 'pause') {
            budget.pause();
            pauses += 1;
          } else if (what === 'resume' && pauses > 0) {
            budget.resume();
            pauses -= 1;
          }
          clock.jump(jumpMs);
          if (pauses === 0) ran += ms;
          clock.advance(ms);
          expect(budget.remainingMs()).toBe(Math.max(0, 1_000 - ran));
          expect(spentAt !== undefined).toBe(ran >= 1_000);
        }
      }),
    );
  });

  it('says nothing after its end', () => {
    const clock = createManualClock();
    let spent = false;
    const budget = createTimeBudget(clock, 10, () => (spent = true));
    clock.advance(5);
    budget.end();
    clock.advance(50);
    expect([spent, budget.remainingMs(), clock.armed()]).toEqual([false, 5, 0]);
  });
});
