import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep } from '../kernel/clock.ts';
import { canonicalJson, type Json } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Fence } from '../stores/attempts.ts';
import type { Journalled, JournalFact } from '../stores/journal.ts';
import type { Core } from './core.ts';

const RETRY: Backoff = { firstMs: 100, maxMs: 5_000, factor: 2 };

/** A write of one attempt, and how to find out whether it is there where its answer got lost. */
export interface SureWrite {
  write(): Promise<Journalled>;
  isThere(): Promise<boolean>;
}

/** Writes until the store has answered; what was written without an answer is looked for (decision 1). */
export interface JournalWrites {
  /** Rejects when this process closes first. */
  insist(write: SureWrite): Promise<Journalled>;
  /** Whether these facts are in the journal. */
  areThere(facts: readonly JournalFact[]): Promise<boolean>;
}

export function createJournalWrites(core: Core, fence: Fence): JournalWrites {
  const { store, clock, random, logger, closing } = core;

  return {
    async areThere(facts) {
      const written = new Map(
        (await store.journal.read(fence.taskId)).map((fact) => [fact.position, textOf(fact)]),
      );
      return facts.every((fact) => written.get(fact.position) === textOf(fact));
    },
    async insist({ write, isThere }) {
      for (let failures = 0; ; failures += 1) {
        try {
          const written = await write();
          const maybe = failures > 0 && written !== 'written';
          return maybe && (await isThere()) ? 'written' : written;
        } catch (thrown) {
          const problem = messageOf(thrown);
          logger.error('journal.write_failed', { attempt: fence.attemptId, problem });
          const waited = await sleep(clock, backoffMs(RETRY, failures, random), closing);
          if (waited === 'aborted') throw thrown;
        }
      }
    },
  };
}

/** Facts are JSON; what they were made from may have had members without a value. */
const textOf = (fact: JournalFact): string =>
  canonicalJson(JSON.parse(JSON.stringify(fact)) as Json, 'as-printed');
