import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createSqliteStore } from '../../src/stores/sqlite/store.ts';
import type { Store } from '../../src/stores/store.ts';
import { moves, playHistory } from './history.ts';
import type { Sightings } from './world.ts';

const SEQUENCES = process.env['LONGCALL_TEST_LONG'] === undefined ? 20_000 : 200_000;

let shared: Store;
const clock = createManualClock();

beforeAll(async () => {
  shared = await createSqliteStore({ path: ':memory:', clock, random: systemRandom });
});
afterAll(() => shared.close());

test(`in ${SEQUENCES} random lives of tasks nothing is lost, doubled, revived or left behind`, async () => {
  const seen: Sightings = { steps: new Map(), overlaps: 0 };
  await fc.assert(
    fc.asyncProperty(moves, async (sequence) => {
      seen.steps.clear();
      await playHistory({ shared, clock, seen }, sequence);
    }),
    { numRuns: SEQUENCES },
  );
}, 1_200_000);
