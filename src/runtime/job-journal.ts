import { newId } from '../kernel/ids.ts';
import type { Task } from '../protocol/model.ts';
import type { Fence } from '../stores/attempts.ts';
import type { AskedInputs, NewInput } from '../stores/inputs.ts';
import { beginsWork, type Journalled, type JournalFact } from '../stores/journal.ts';
import type { Core } from './core.ts';
import type { JobJournal } from './job.ts';
import { createJournalWrites, type JournalWrites } from './journal-writes.ts';
import type { CallBudgets } from './limits.ts';
import type { Pulse } from './pulse.ts';
import type { RunState } from './run-job.ts';
import type { TimeBudget } from './time-budget.ts';

export interface JobJournalOptions {
  readonly core: Core;
  readonly task: Task;
  readonly fence: Fence;
  readonly budgets: CallBudgets;
  readonly runBudget: Pick<TimeBudget, 'spentMs'>;
  readonly state: RunState;
  readonly pulse: Pulse;
  /** The store has refused this run's fence: somebody else decides by now. */
  readonly onFenced: () => Promise<void>;
  /** Writes what the status still has to say, so that a question comes after it. */
  readonly flushStatus: () => Promise<void>;
}

/** Writes facts as this run may: nothing once it is over, and heard where the fence is refused. */
type Put = (facts: readonly JournalFact[], write: () => Promise<Journalled>) => Promise<Journalled>;

/** The journal as one attempt may write it. When its run is over receipts alone go through, to the ledger (decision 15). */
export function createJobJournal(options: JobJournalOptions): JobJournal {
  const { core, task, fence, state } = options;
  const { journal } = core.store;
  const writes = createJournalWrites(core, fence);
  const put: Put = async (facts, write) => {
    if (state.over) return 'fenced';
    const written = await writes.insist({ write, isThere: () => writes.areThere(facts) });
    if (written !== 'written' && !state.over) await options.onFenced();
    return written;
  };

  return {
    ...waitingOf(options, writes),
    read: () => journal.read(task.id),
    append(facts) {
      state.sent ||= !state.over && facts.some(beginsWork); // a write whose answer got lost may be there
      return put(facts, () => journal.append(fence, facts));
    },
    dispatchEffect(effect, fact) {
      state.sent ||= !state.over;
      return put([fact], () => journal.dispatchEffect(fence, effect, fact));
    },
    async recordReceipt(receipt, fact) {
      const written = await writes.insist({
        async write() {
          const kept = await journal.recordReceipt({ ...receipt, journal: { fence, fact } });
          return kept.journalled ? 'written' : 'fenced';
        },
        isThere: () => writes.areThere([fact]),
      });
      if (written !== 'written' && !state.over) await options.onFenced();
      return written === 'written';
    },
    consumeAnswer: (key, fact) => put([fact], () => journal.consumeAnswer(fence, key, fact)),
    ask: createAsk(options, put),
  };
}

function createAsk(options: JobJournalOptions, put: Put): JobJournal['ask'] {
  const { core, task, fence } = options;
  const { store, announcer } = core;
  /** The questions are there already where the answer to the write that put them got lost. */
  const askedBefore = async (inputs: readonly NewInput[]): Promise<AskedInputs> => {
    const now = await store.tasks.get('system', task.id);
    const found = await Promise.all(inputs.map(({ key }) => store.inputs.find(task.id, key)));
    if (!now) return { kind: 'refused', reason: 'ended' };
    return { kind: 'asked', task: now, inputs: found.flatMap((each) => each?.input ?? []) };
  };
  return async (inputs, fact) => {
    await options.flushStatus();
    let asked: AskedInputs = { kind: 'refused', reason: 'fenced' };
    const written = await put([fact], async () => {
      asked = await store.inputs.ask(fence, inputs, [fact]);
      return asked.kind === 'asked' ? 'written' : 'fenced';
    });
    if (written === 'written' && asked.kind === 'refused') asked = await askedBefore(inputs);
    if (asked.kind === 'asked') announcer.asked(asked.task, asked.inputs);
    return asked;
  };
}

type WaitingPart = Pick<JobJournal, 'findInput' | 'park' | 'now' | 'openMs' | 'watch'>;

function waitingOf(options: JobJournalOptions, writes: JournalWrites): WaitingPart {
  const { core, task, fence, budgets, runBudget, state, pulse } = options;
  const { store, random } = core;
  return {
    findInput: (key) => store.inputs.find(task.id, key),
    async park(wakeUp) {
      if (state.over) return false;
      await options.flushStatus();
      const nextAttemptId = newId('attempt', random);
      const ranMs = Math.round(runBudget.spentMs());
      const parked = await writes.insist({
        async write() {
          const done = await store.attempts.park(fence, { ...wakeUp, nextAttemptId, ranMs });
          return done ? 'written' : 'fenced';
        },
        async isThere() {
          const attempts = await store.attempts.listOf(task.id);
          return attempts.some(({ id }) => id === nextAttemptId);
        },
      });
      state.parked = parked === 'written';
      if (!state.parked && !state.over) await options.onFenced();
      return state.parked;
    },
    now: () => store.now(),
    async openMs() {
      const leftMs = budgets.inputAllowanceMs - (await store.inputs.openTimeMs(task.id));
      return Math.max(0, Math.floor(Math.min(budgets.inputExpiryMs, leftMs)));
    },
    watch: pulse.listen,
  };
}
