import type { EventStore } from '../events.ts';
import { roundLimit } from './limits.ts';
import type { Session } from './session.ts';

/** The most events of one answer; readers go on after the last sequence they have. */
const EVENT_ROWS_MAX = 1000;

export function createEventStore({ commit, tables }: Session): EventStore {
  return {
    append: (event) => commit.write((now) => tables.events.append(now, event)),
    list: ({ afterSequence = 0, limit, taskId }) =>
      commit.read(() => {
        const rows = roundLimit(limit, EVENT_ROWS_MAX);
        return taskId === undefined
          ? tables.events.after(afterSequence, rows)
          : tables.events.ofTaskAfter(taskId, afterSequence, rows);
      }),
  };
}
