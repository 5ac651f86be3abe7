import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createManualClock } from './manual-clock.ts';
import { createTokenBuckets } from './token-bucket.ts';

const bucketsOf = (perSecond: number, burst: number) => {
  const clock = createManualClock();
  return { clock, buckets: createTokenBuckets({ perSecond, burst, keysMax: 2, clock }) };
};

test('a burst is let through, and then one for each token that came back', () => {
  const { clock, buckets } = bucketsOf(10, 3);
  expect([1, 2, 3].map(() => buckets.take('a').ok)).toEqual([true, true, true]);
  expect(buckets.take('a')).toEqual({ ok: false, retryAfterMs: 100 });
  clock.advance(100);
  expect(buckets.take('a')).toEqual({ ok: true });
  expect(buckets.take('a').ok).toBe(false);
});

test('what one key took is not missing from another', () => {
  const { buckets } = bucketsOf(1, 1);
  expect(buckets.take('a').ok).toBe(true);
  expect(buckets.take('b').ok).toBe(true);
  expect(buckets.take('a').ok).toBe(false);
});

test('only so many keys are remembered', () => {
  const { buckets } = bucketsOf(1, 1);
  for (const key of ['a', 'b', 'c']) buckets.take(key);
  expect(buckets.take('a').ok).toBe(true);
  expect(buckets.take('c').ok).toBe(false);
});

test('in any time no more comes through than the burst and what came back, and waiting as told is enough', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 }),
      (perSecond, burst, waits) => {
        const { clock, buckets } = bucketsOf(perSecond, burst);
        let passedMs = 0;
        let through = 0;
        for (const waitMs of waits) {
          clock.advance(waitMs);
          passedMs += waitMs;
          const taken = buckets.take('a');
          if (taken.ok) through += 1;
          else {
            clock.advance(taken.retryAfterMs);
            passedMs += taken.retryAfterMs;
            expect(buckets.take('a').ok).toBe(true);
            through += 1;
          }
        }
        expect(through).toBeLessThanOrEqual(burst + (passedMs / 1000) * perSecond + 1e-6);
      },
    ),
  );
});
