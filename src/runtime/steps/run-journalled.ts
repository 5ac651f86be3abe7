import { setMaxListeners } from 'node:events';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf, type Logger } from '../../kernel/logger.ts';
import type { Random } from '../../kernel/random.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Confirmations } from '../confirmations.ts';
import type { Job, RunEnd, RunParked } from '../job.ts';
import { effectUnknown } from '../outcomes.ts';
import { openEffects } from '../recount.ts';
import { stopReasonOf } from '../stop.ts';
import { createConductor, type Ending } from './conductor.ts';
import type { JobContext } from './context.ts';
import type { EffectKeys } from './effect-keys.ts';
import { endOfCancelledRun, endOfMismatch, endOfReturned, endOfThrown } from './handler-end.ts';
import { createJobContext } from './job-context.ts';
import { QuestionCancelsRun } from './questions.ts';
import { RunStopped } from './run-stopped.ts';

/**
 * The function of a tool's author. What it returns is looked at before it is believed: a tool's result, or a RunEnd.
 * It is called again from its beginning in each attempt.
 */
export type JournalledHandler = (context: JobContext) => unknown;

export interface JournalledParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly keys: EffectKeys;
  readonly vault: Vault;
  readonly confirmations: Confirmations;
}

const PARKED: RunParked = { parked: true };

/**
 * Plays one attempt of a journalled handler. Whatever the handler does, there is one end: its result, its error, a
 * sleep, or a word about why nothing else can be said (P1, P4).
 *
 * @throws RunStopped where the run was told to stop before the handler came to an end of its own
 */
export async function runJournalled(
  job: Job,
  handler: JournalledHandler,
  parts: JournalledParts,
): Promise<RunEnd | RunParked> {
  const facts = await job.journal.read();
  const [cutOff] = openEffects(facts);
  if (cutOff) return { outcome: effectUnknown(cutOff), end: 'lost', reason: 'outcome_unknown' };
  const told = createSite(job.signal);
  const site = createSite(job.signal);
  const conductor = createConductor({
    facts,
    journal: job.journal,
    clock: parts.clock,
    signal: job.signal,
    onLateFailure: (thrown) =>
      parts.logger.error('effect.receipt_failed', { problem: messageOf(thrown) }),
  });
  const context = createJobContext({
    ...parts,
    job,
    conductor,
    signal: told.signal,
    workSignal: site.signal,
  });
  try {
    return endOf(await conductor.run(() => handler(context)), job);
  } catch (thrown) {
    if (thrown instanceof QuestionCancelsRun) return endOfCancelledRun();
    throw thrown;
  } finally {
    told.close();
    site.close();
    site.abort();
  }
}

function endOf(ending: Ending, job: Job): RunEnd | RunParked {
  switch (ending.kind) {
    case 'parked':
      return PARKED;
    case 'mismatch':
      return endOfMismatch(ending.mismatch);
    case 'returned':
      return endOfReturned(ending.value);
    case 'threw': {
      // What a handler throws because it was told to stop is no word about its work: the runtime knows why it was.
      const stop = stopReasonOf(job.signal);
      if (stop) throw new RunStopped(stop);
      return endOfThrown(ending.thrown);
    }
    case 'departed':
      throw new RunStopped(stopReasonOf(job.signal) ?? 'lease_lost');
  }
}

/** The job's signal with an Error as its reason, for code of the tool's author. */
interface Site {
  readonly signal: AbortSignal;
  /** Hears no more of the job. */
  close(): void;
  /** The run is over: what still works for it may stop. */
  abort(): void;
}

function createSite(stopped: AbortSignal): Site {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // every work may listen
  const onStop = (): void => controller.abort(new RunStopped(stopReasonOf(stopped) ?? 'cancelled'));
  if (stopped.aborted) onStop();
  else stopped.addEventListener('abort', onStop, { once: true });
  return {
    signal: controller.signal,
    close: () => stopped.removeEventListener('abort', onStop),
    abort: () => controller.abort(new RunStopped('abandoned')),
  };
}
