import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, budgetsOf, ttlMsOf } from './limits.ts';
import { pollHintMs } from './poll-hint.ts';

const HOUR = 3_600_000;
const tool = {
  runLimitMs: HOUR,
  inputAllowanceMs: 24 * HOUR,
  inputExpiryMs: HOUR,
  retentionMs: 24 * HOUR,
};
const anyDuration = fc.integer({ min: 0, max: 60 * 24 * HOUR });

describe('the ttl of a task', () => {
  it('never goes above the cap, and covers all the work wherever the cap allows it', () => {
    fc.assert(
      fc.property(
        fc.record({
          runLimitMs: anyDuration,
          inputAllowanceMs: anyDuration,
          inputExpiryMs: anyDuration,
          retentionMs: anyDuration,
        }),
        fc.boolean(),
        fc.option(fc.integer(), { nil: undefined }),
        (budgeted, anonymous, wanted) => {
          const budgets = budgetsOf(budgeted, anonymous, DEFAULT_LIMITS);
          const ttlMs = ttlMsOf(budgets, DEFAULT_LIMITS, wanted);
          const workMs =
            DEFAULT_LIMITS.queueAllowanceMs + budgets.runLimitMs + budgets.inputAllowanceMs;
          expect(Number.isInteger(ttlMs)).toBe(true);
          expect(ttlMs).toBeLessThanOrEqual(DEFAULT_LIMITS.ttlMaxMs);
          expect(ttlMs).toBeGreaterThanOrEqual(Math.min(workMs, DEFAULT_LIMITS.ttlMaxMs));
        },
      ),
    );
  });

  it('is what was asked for, where that is within the limits', () => {
    const budgets = budgetsOf(tool, false, DEFAULT_LIMITS);
    expect(ttlMsOf(budgets, DEFAULT_LIMITS, 27 * HOUR)).toBe(27 * HOUR);
  });

  it('is short for callers without identity, and a tool with shorter limits keeps them', () => {
    const anonymous = budgetsOf(tool, true, DEFAULT_LIMITS);
    expect(anonymous).toEqual({
      runLimitMs: HOUR / 4,
      inputAllowanceMs: HOUR / 4,
      inputExpiryMs: HOUR / 4,
      retentionMs: HOUR,
      retentionMaxMs: HOUR,
    });
    expect(budgetsOf({ ...tool, runLimitMs: 5 }, true, DEFAULT_LIMITS).runLimitMs).toBe(5);
  });
});

describe('the poll hint', () => {
  it('never falls below what the tool says, nor rises above 15 s or that, nor falls with age', () => {
    const anyMs = fc.integer({ min: 1, max: 60_000 });
    fc.assert(
      fc.property(
        anyMs,
        fc.integer({ min: -1_000, max: 1e9 }),
        fc.nat(1e9),
        (pollIntervalMs, ageMs, laterMs) => {
          const task = { createdAt: 0, pollIntervalMs };
          const hint = pollHintMs(task, ageMs);
          expect(hint).toBeGreaterThanOrEqual(pollIntervalMs);
          expect(hint).toBeLessThanOrEqual(Math.max(15_000, pollIntervalMs));
          expect(pollHintMs(task, ageMs + laterMs)).toBeGreaterThanOrEqual(hint);
        },
      ),
    );
  });

  it('is 15 s from five minutes on', () => {
    const hints = [0, 59, 60, 299, 300].map((s) =>
      pollHintMs({ createdAt: 0, pollIntervalMs: 1_000 }, s * 1_000),
    );
    expect(hints).toEqual([1_000, 2_000, 3_000, 14_000, 15_000]);
  });
});
