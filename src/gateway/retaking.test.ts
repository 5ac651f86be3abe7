import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createManualClock } from '../kernel/manual-clock.ts';
import type { Connection } from '../requestor/connection.ts';
import { createRetaker } from './retaking.ts';

const connection = { isOpen: () => true } as Connection;

function scene() {
  const clock = createManualClock();
  const takenAt: number[] = [];
  const retaker = createRetaker({
    clock,
    retake: () => Promise.resolve(void takenAt.push(clock.monotonic())),
    onFailed: () => undefined,
  });
  /** Says every `everyMs` that something has changed. */
  const change = async (forMs: number, everyMs: number): Promise<void> => {
    for (let passed = 0; passed < forMs; passed += everyMs) {
      retaker.soon(connection);
      clock.advance(everyMs);
      await nextTurn();
    }
  };
  return { change, takenAt, clock };
}

test('a burst of changes is read once, when it has settled', async () => {
  const { change, takenAt } = scene();
  await change(50, 5);
  expect(takenAt).toEqual([50]);
});

test('a list that changes for ever is read ever less often', async () => {
  const { change, takenAt } = scene();
  await change(60_000, 10);
  expect(takenAt.length).toBeGreaterThan(5);
  expect(takenAt.length).toBeLessThan(25);
});

test('after a calm time a change is read at once again', async () => {
  const { change, takenAt, clock } = scene();
  await change(5_000, 10);
  clock.advance(10_000);
  await nextTurn();
  clock.advance(30_000);
  const [before, from] = [takenAt.length, clock.monotonic()];
  await change(60, 60);
  expect(takenAt.slice(before)).toEqual([from + 50]);
});
