import { describe, expect, test } from 'vitest';
import { createManualClock } from '../kernel/manual-clock.ts';
import type { Random } from '../kernel/random.ts';
import { verifies } from '../../test/requirements/verifies.ts';
import { createPace } from './pace.ts';

const random = (fraction: number): Random => ({
  bytes: (count) => new Uint8Array(count),
  fraction: () => fraction,
});

/** How long each of the rests takes, in ms. */
async function rests(
  count: number,
  hints: readonly unknown[] = [],
  fraction = 0,
): Promise<readonly number[]> {
  const clock = createManualClock();
  const pace = createPace(clock, random(fraction));
  const taken: number[] = [];
  for (let at = 0; at < count; at += 1) {
    pace.hint(hints[at]);
    taken.push(await timeOf(clock, pace.rest(new AbortController().signal)));
  }
  return taken;
}

async function timeOf(
  clock: ReturnType<typeof createManualClock>,
  wait: Promise<unknown>,
): Promise<number> {
  let over = false;
  void wait.then(() => (over = true));
  const since = clock.monotonic();
  while (!over) {
    clock.advance(10);
    for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
  }
  return clock.monotonic() - since;
}

describe('how often a task is looked at', () => {
  verifies(['G1-28', 'G2-34'], 'the peer’s latest hint is the floor', async () => {
    expect(await rests(3, [200, undefined, 700])).toEqual([200, 200, 700]);
  });

  test('a hint out of reason is brought inside', async () => {
    expect(await rests(4, [1, -5, Number.NaN, 'soon'])).toEqual([50, 50, 50, 50]);
    expect(await rests(1, [1e12])).toEqual([300_000]);
  });

  test('without a hint it slows down, but not for ever', async () => {
    const taken = await rests(30);
    expect(taken[0]).toBe(1_000);
    expect(taken[1]).toBe(1_200);
    expect(taken.at(-1)).toBe(15_000);
  });

  test('looks of many tasks do not come in step', async () => {
    expect(await rests(1, [1_000], 0.5)).toEqual([1_100]);
  });

  test('failures wait longer and longer, never shorter than what the peer asked for', async () => {
    const clock = createManualClock();
    const pace = createPace(clock, random(1));
    const { signal } = new AbortController();
    const wait = (atLeastMs?: number) => timeOf(clock, pace.recover(signal, atLeastMs));
    expect([await wait(), await wait(), await wait(9_000)]).toEqual([500, 1_000, 9_000]);
    pace.succeeded();
    expect(await wait()).toBe(500);
  });

  test('a nudge ends the wait, and one that came before it skips it', async () => {
    const clock = createManualClock();
    const pace = createPace(clock, random(0));
    const { signal } = new AbortController();
    const resting = pace.rest(signal);
    pace.nudge();
    await resting;
    pace.nudge();
    await pace.rest(signal);
    expect(clock.monotonic()).toBe(0);
  });
});
