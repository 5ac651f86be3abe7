import type { Slot } from '../engine/engine.ts';
import { newId } from '../kernel/ids.ts';
import { messageOf } from '../kernel/logger.ts';
import { askKindOf, type Task } from '../protocol/model.ts';
import type { Fence } from '../stores/attempts.ts';
import type { NewInput, WithdrawReason } from '../stores/inputs.ts';
import type { Core } from './core.ts';
import type { Question, Reply } from './job.ts';
import type { TimeBudget } from './time-budget.ts';
import { policyOfUpstream } from './upstream-policy.ts';

const UNDECLARED: Reply = { kind: 'undeclared' };
const EXPIRED: Reply = { kind: 'expired' };
const WITHDRAWN: Reply = { kind: 'withdrawn' };

export interface AskOptions {
  readonly core: Core;
  readonly task: Task;
  readonly fence: Fence;
  readonly slot: Slot;
  /** Aborted when the run is told to stop. */
  readonly stopped: AbortSignal;
  /** Stands still while a question is open: a person's time is not the run's (Q1). */
  readonly runBudget: TimeBudget;
  /** Runs only while a question is open. */
  readonly inputBudget: TimeBudget;
  readonly inputExpiryMs: number;
  /** Writes what the status still has to say, so that the question comes after it. */
  readonly flushStatus: () => Promise<void>;
}

/** Asks the task's owner, in the name of one run. */
export type Ask = (
  questions: readonly Question[],
  signal?: AbortSignal,
) => Promise<readonly Reply[]>;

export function createAsk(options: AskOptions): Ask {
  const { core, task } = options;
  const { desk, random } = core;
  const lobby = createLobby(options);

  return async (questions, signal) => {
    if (options.stopped.aborted || signal?.aborted) return questions.map(() => WITHDRAWN);
    await options.flushStatus();
    // The store keeps whole milliseconds; what is left of a budget is a monotonic difference.
    const openMs = Math.floor(Math.min(options.inputExpiryMs, options.inputBudget.remainingMs()));
    const inputs: NewInput[] = [];
    const replies = questions.map((question): Promise<Reply> => {
      const kind = askKindOf(question.method, question.params);
      if (!task.asks.includes(kind)) return Promise.resolve(UNDECLARED);
      if (openMs <= 0) return Promise.resolve(EXPIRED);
      const key = newId('input', random);
      const { method, params } = question;
      inputs.push({ key, method, params, openMs, policy: policyOfUpstream(params) });
      return desk.expect(task.id, key);
    });
    const all = Promise.all(replies);
    if (inputs.length > 0) await waitOutside(options, { inputs, openMs, signal, lobby, all });
    return all;
  };
}

interface Round {
  readonly inputs: readonly NewInput[];
  readonly openMs: number;
  readonly signal: AbortSignal | undefined;
  readonly lobby: Lobby;
  readonly all: Promise<readonly Reply[]>;
}

/** Puts the questions and resolves when each has its reply. */
async function waitOutside(options: AskOptions, round: Round): Promise<void> {
  const { stopped } = options;
  const close = createCloser(options, round.inputs);
  const onStop = (): void => close('ended');
  const onWithdrawal = (): void => close('upstream_withdrew');
  round.lobby.enter();
  if (await putQuestions(options, round.inputs)) {
    stopped.addEventListener('abort', onStop, { once: true });
    round.signal?.addEventListener('abort', onWithdrawal, { once: true });
    if (stopped.aborted) onStop();
    else if (round.signal?.aborted) onWithdrawal();
  } else {
    onStop();
  }
  const expiry = options.core.clock.after(round.openMs, () => close('expired'));
  await round.all;
  expiry.cancel();
  stopped.removeEventListener('abort', onStop);
  round.signal?.removeEventListener('abort', onWithdrawal);
  round.lobby.leave();
}

async function putQuestions(
  { core, fence }: AskOptions,
  inputs: readonly NewInput[],
): Promise<boolean> {
  try {
    const asked = await core.store.inputs.ask(fence, inputs);
    if (asked.kind === 'asked') core.announcer.asked(asked.task, asked.inputs);
    else core.logger.warn('input.refused', { attempt: fence.attemptId, reason: asked.reason });
    return asked.kind === 'asked';
  } catch (thrown) {
    core.logger.error('input.ask_failed', { attempt: fence.attemptId, problem: messageOf(thrown) });
    return false;
  }
}

/** Ends questions without an answer; one that was answered at the last moment keeps its answer. */
function createCloser(
  { core, task }: AskOptions,
  inputs: readonly NewInput[],
): (reason: WithdrawReason) => void {
  const { store, desk, announcer, logger, expiries } = core;
  const keys = inputs.map(({ key }) => key);
  const policyOf = (key: string) => inputs.find((input) => input.key === key)?.policy;
  const closeAll = async (reason: WithdrawReason): Promise<void> => {
    const open = desk.waiting(task.id).filter((key) => keys.includes(key));
    if (open.length === 0) return;
    const left = await store.inputs.withdraw(task.id, open, reason);
    const answers = await Promise.all(open.map((key) => store.inputs.answerOf(task.id, key)));
    open.forEach((key, at) => {
      const answer = answers[at];
      if (!answer && reason === 'expired') expiries.count(key, policyOf(key));
      desk.reply(
        key,
        answer ? { kind: 'answer', answer } : reason === 'expired' ? EXPIRED : WITHDRAWN,
      );
    });
    announcer.closed(task.id, open, reason === 'expired' ? 'expired' : 'withdrawn');
    if (left) announcer.changed(left);
  };
  return (reason) =>
    void closeAll(reason).catch((thrown: unknown) => {
      logger.error('input.withdraw_failed', { reason, problem: messageOf(thrown) });
      for (const key of keys) desk.reply(key, reason === 'expired' ? EXPIRED : WITHDRAWN);
    });
}

/** Where a run waits: its slot is free meanwhile, and the other clock runs. Overlapping waits count as one. */
interface Lobby {
  enter(): void;
  leave(): void;
}

function createLobby({ slot, runBudget, inputBudget }: AskOptions): Lobby {
  let waiting = 0;
  return {
    enter() {
      runBudget.pause();
      inputBudget.resume();
      waiting += 1;
      if (waiting === 1) slot.park();
    },
    leave() {
      waiting -= 1;
      if (waiting === 0) slot.unpark();
      inputBudget.pause();
      runBudget.resume();
    },
  };
}
