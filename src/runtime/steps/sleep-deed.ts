import { isJsonObject } from '../../kernel/json.ts';
import { expiresAt, type Task } from '../../protocol/model.ts';
import type { JobJournal } from '../job.ts';
import type { BegunFact, Deed } from './deed.ts';
import { StepRefused } from './step-refused.ts';
import type { Outcome } from './work.ts';

export interface SleepDeedOptions {
  readonly name: string;
  /** In ms since the epoch. */
  readonly at: number;
  readonly task: Task;
  readonly journal: Pick<JobJournal, 'now'>;
  readonly outcome: Outcome;
}

/** A wait for a time, by the store's clock. A later attempt keeps to the time that was asked for first. */
export function createSleepDeed(options: SleepDeedOptions): Deed {
  const { name, journal, outcome } = options;
  return {
    kind: 'sleep',
    name,
    plan() {
      const problem = problemOf(options);
      const at = Math.ceil(options.at);
      return Promise.resolve(
        problem === undefined ? { note: { at } } : { refusal: new StepRefused(name, problem) },
      );
    },
    pursue(begun) {
      const at = wakeTimeOf(begun);
      return {
        kind: 'waiting',
        at,
        onAnswers: false,
        look: () => Promise.resolve(journal.now() >= at ? {} : undefined),
      };
    },
    deliver: outcome.deliver,
    refuse: outcome.refuse,
  };
}

const wakeTimeOf = ({ note }: BegunFact): number => {
  const at = isJsonObject(note) ? note['at'] : undefined;
  return typeof at === 'number' ? at : 0;
};

function problemOf({ at, task }: SleepDeedOptions): string | undefined {
  if (typeof at !== 'number' || !Number.isFinite(at))
    return 'needs a time to wake up at, in ms since the epoch';
  if (at >= expiresAt(task))
    return "would sleep longer than the task's record is kept. Give the tool a longer runLimit, inputAllowance or retention";
  return undefined;
}
