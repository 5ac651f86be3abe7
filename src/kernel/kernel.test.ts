import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffCeilingMs, backoffMs } from './backoff.ts';
import { sleep, systemClock, toIso } from './clock.ts';
import { createDeferred } from './deferred.ts';
import { formatDuration, parseDurationMs, parseSizeBytes } from './durations.ts';
import { ERROR_CATALOGUE, LongcallError } from './errors.ts';
import { ID_PREFIXES, isId, newId, type IdKind } from './ids.ts';
import { invariant, InvariantError } from './invariant.ts';
import { systemRandom } from './random.ts';

describe('durations and sizes', () => {
  test('what is formatted parses back to the same number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 * 86_400_000 }), (ms) => {
        expect(parseDurationMs(formatDuration(ms))).toBe(ms);
      }),
    );
  });

  test.each([
    ['500ms', 500],
    ['1.5s', 1500],
    ['15m', 900_000],
    ['7d', 604_800_000],
  ])('%s is %d ms', (text, ms) => expect(parseDurationMs(text)).toBe(ms));

  test.each(['', '10', 's', '-1s', '1 s', '1w', '1e3s'])('%j is no duration', (text) =>
    expect(parseDurationMs(text)).toBeUndefined(),
  );

  test('sizes are binary and need their unit', () => {
    expect(parseSizeBytes('16MiB')).toBe(16_777_216);
    expect(parseSizeBytes('1KB')).toBeUndefined();
    expect(parseSizeBytes('12')).toBeUndefined();
  });
});

describe('ids', () => {
  const kinds = Object.keys(ID_PREFIXES) as IdKind[];

  test.each(kinds)('a new %s id is recognised as that kind and as no other', (kind) => {
    const id = newId(kind, systemRandom);
    expect(kinds.filter((other) => isId(other, id))).toEqual([kind]);
  });

  test('ids survive a header and carry 160 bits', () => {
    const id = newId('task', { bytes: (count) => randomBytes(count), fraction: () => 0 });
    expect(id).toMatch(/^tsk_[A-Za-z0-9_-]{27}$/);
  });
});

describe('random bytes', () => {
  test('no two requests get the same ones, over many pools and across their ends', () => {
    const seen = new Set<string>();
    for (let n = 0; n < 2000; n += 1)
      seen.add(Buffer.from(systemRandom.bytes(20 + (n % 13))).toString('hex'));
    expect(seen.size).toBe(2000);
  });

  test('as many as were asked for, also more than a pool holds', () => {
    for (const count of [0, 1, 32, 4096, 4097, 10_000])
      expect(systemRandom.bytes(count)).toHaveLength(count);
  });

  test('what was handed out is not changed later', () => {
    const bytes = systemRandom.bytes(32);
    const before = Buffer.from(bytes).toString('hex');
    for (let n = 0; n < 500; n += 1) systemRandom.bytes(32);
    expect(Buffer.from(bytes).toString('hex')).toBe(before);
  });
});

describe('backoff', () => {
  const backoff = { firstMs: 100, maxMs: 10_000, factor: 2 };

  test('the wait stays between half of the ceiling and the ceiling, however many failures', () => {
    fc.assert(
      fc.property(
        fc.nat(10_000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (failures, fraction) => {
          const ceilingMs = backoffCeilingMs(backoff, failures);
          const waitMs = backoffMs(backoff, failures, {
            bytes: () => new Uint8Array(),
            fraction: () => fraction,
          });
          expect(waitMs).toBeGreaterThanOrEqual(ceilingMs / 2 - 1);
          expect(waitMs).toBeLessThanOrEqual(ceilingMs);
          expect(ceilingMs).toBeLessThanOrEqual(10_000);
        },
      ),
    );
  });
});

describe('clock', () => {
  test('a wait beyond 31 bits of milliseconds does not fire at once', async () => {
    let fired = false;
    const timer = systemClock.after(3_000_000_000, () => (fired = true));
    await sleep(systemClock, 20);
    timer.cancel();
    expect(fired).toBe(false);
  });

  test('a sleep ends at once when its signal is aborted, and says so', async () => {
    const stop = new AbortController();
    const slept = sleep(systemClock, 60_000, stop.signal);
    stop.abort();
    expect(await slept).toBe('aborted');
    expect(await sleep(systemClock, 60_000, stop.signal)).toBe('aborted');
    expect(await sleep(systemClock, 1)).toBe('elapsed');
  });

  test('times are written in UTC with milliseconds', () => {
    expect(toIso(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('small things', () => {
  test('a deferred settles once', async () => {
    const deferred = createDeferred<number>();
    deferred.resolve(1);
    deferred.resolve(2);
    expect(await deferred.promise).toBe(1);
  });

  test('a broken invariant names itself', () => {
    expect(() => invariant(false, 'a lease has an owner')).toThrow(InvariantError);
    expect(() => invariant(true, 'never seen')).not.toThrow();
  });

  test('an error carries its code, hint, exit code and whether to try again', () => {
    const error = new LongcallError('LONGCALL_CAPACITY', 'too much', {
      hint: 'wait',
      data: { retryAfterMs: 5 },
    });
    expect(error).toMatchObject({
      code: 'LONGCALL_CAPACITY',
      hint: 'wait',
      exitCode: 12,
      retryable: true,
    });
    expect(error.data).toEqual({ retryAfterMs: 5 });
  });

  test('every code is spelled alike and has words', () => {
    for (const [code, entry] of Object.entries(ERROR_CATALOGUE)) {
      expect(code).toMatch(/^LONGCALL_[A-Z_]+$/);
      expect(entry.summary.length).toBeGreaterThan(10);
    }
  });
});
