import { until } from '../crash/until.ts';
import { PATIENCE_MS } from './command.ts';
import type { Place } from './place.ts';

/** The id of the task that `act` begins, read from the operator's list: for clients that do not tell it. */
export async function taskBegunBy(place: Place, act: () => Promise<void> | void): Promise<string> {
  const known = new Set((await place.tasks()).map(({ id }) => id));
  await act();
  return until(
    async () => (await place.tasks()).find(({ id }) => !known.has(id))?.id,
    'a new task in the operator’s list',
    PATIENCE_MS,
  );
}
