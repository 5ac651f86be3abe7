import type { Clock } from '../../../src/kernel/clock.ts';
import type { JobJournal } from '../../../src/runtime/job.ts';
import type { Wake } from '../../../src/runtime/steps/pursuits.ts';
import type { Journalled, JournalFact } from '../../../src/stores/journal.ts';

/** What outlives a death. */
export interface Records {
  readonly facts: JournalFact[];
  /** What the last attempt has left to wait for. */
  parked: Wake | undefined;
}

export const noRecords = (): Records => ({ facts: [], parked: undefined });

/** When the process of an attempt dies: at that write, counted from 0, before or after it has become durable. */
export interface Death {
  readonly atWrite: number;
  readonly durable: boolean;
}

export type ReplayJournal = Pick<JobJournal, 'append' | 'park' | 'now' | 'watch'>;

/** A journal of one attempt. From its death on nothing is answered any more, and nothing written. */
export function createMemoryJournal(
  records: Records,
  { clock, death, onDeath }: { clock: Clock; death: Death | undefined; onDeath: () => void },
): ReplayJournal {
  let writes = 0;
  let dead = false;
  const never = <T>(): Promise<T> => new Promise(() => undefined);

  const write = <T>(apply: () => T): Promise<T> => {
    if (dead) return never();
    const dies = death?.atWrite === writes;
    writes += 1;
    if (!dies || death.durable) {
      const answer = apply();
      if (!dies) return Promise.resolve(answer);
    }
    dead = true;
    onDeath();
    return never();
  };
  return {
    append: (facts) =>
      write((): Journalled => {
        if (facts.some(({ position }, at) => position !== records.facts.length + at))
          return 'conflict';
        // By way of JSON, like every store.
        records.facts.push(...(JSON.parse(JSON.stringify(facts)) as JournalFact[]));
        return 'written';
      }),
    park: (wake) =>
      write(() => {
        records.parked = wake;
        return true;
      }),
    now: () => clock.now(),
    watch: () => () => undefined,
  };
}
