import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { crashPoint } from '../kernel/crash-point.ts';
import { LongcallError } from '../kernel/errors.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import { safeText } from '../kernel/text.ts';
import type { Outcome } from '../protocol/model.ts';
import type { JournalStore } from '../stores/journal.ts';
import type { SettleTask, SettledTask, TaskStore } from '../stores/tasks.ts';
import type { Announcer } from './announcer.ts';
import type { Fit } from './artifacts/fitting.ts';
import type { ArtifactKeeper } from './artifacts/keeper.ts';
import type { NameInLogs } from './name-in-logs.ts';
import type { QuestionDesk } from './question-desk.ts';
import { recounted, sentEffects, type Recounted } from './recount.ts';

export interface SettlerOptions {
  readonly tasks: Pick<TaskStore, 'settle'>;
  /** What a journalled handler had done by then. */
  readonly journal: Pick<JournalStore, 'read'>;
  readonly announcer: Announcer;
  readonly desk: QuestionDesk;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly nameInLogs: NameInLogs;
  readonly fit: Fit;
  /** Takes artifacts back whose outcome was not kept; absent where none are made. */
  readonly keeper: Pick<ArtifactKeeper, 'discard'> | undefined;
  /** Places may have become free. */
  readonly onSettled: () => void;
}

/** A settlement without its message: that is taken from the outcome. */
export type Settlement = Omit<SettleTask, 'message'>;

/** The one way in which a task ends. */
export interface Settler {
  /** Rejects where the store does. */
  settle(settlement: Settlement): Promise<SettledTask>;
  /**
   * Goes on until the store has answered: an outcome that was earned is not lost to a full disk. Gives up, with
   * nothing, when the store is closed or `signal` is aborted; recovery judges what is left.
   */
  insist(settlement: Settlement, signal: AbortSignal): Promise<SettledTask | undefined>;
}

const RETRY: Backoff = { firstMs: 100, maxMs: 5_000, factor: 2 };

function firstText(outcome: Outcome): string | undefined {
  if (outcome.kind !== 'result' || !Array.isArray(outcome.result['content'])) return undefined;
  const texts = outcome.result['content'].map(
    (block: unknown) => (block as { text?: unknown } | null)?.text,
  );
  return texts.find((text) => typeof text === 'string');
}

/** The words beside a failed status (G1-96, G2-118); every other end clears the message (P5). */
export function endMessage(outcome: Outcome): string | undefined {
  const said = outcome.kind === 'error' ? outcome.error.message : undefined;
  const isToolError = outcome.kind === 'result' && outcome.result['isError'] === true;
  return safeText(said ?? (isToolError ? firstText(outcome) : undefined) ?? '') || undefined;
}

const isClosed = (thrown: unknown): boolean =>
  thrown instanceof LongcallError && thrown.code === 'LONGCALL_STORE_CLOSED';

export function createSettler(options: SettlerOptions): Settler {
  const { tasks, journal, announcer, desk, clock, random, logger, fit, keeper } = options;

  /** What stays behind all the same goes at its time. */
  const discard = async (ids: readonly string[]): Promise<void> => {
    await keeper?.discard(ids).catch((thrown: unknown) => {
      logger.warn('artifact.discard_failed', { problem: messageOf(thrown) });
    });
  };
  const recount = async ({ taskId, outcome }: Settlement): Promise<Recounted> =>
    recounted(outcome, sentEffects(await journal.read(taskId)));
  const settle = async (settlement: Settlement): Promise<SettledTask> => {
    const { outcome: wanted } = settlement;
    const told = wanted.kind === 'result' ? { outcome: wanted } : await recount(settlement);
    const fitting = fit(settlement.taskId, told.outcome);
    const { outcome, fresh } = fitting instanceof Promise ? await fitting : fitting;
    if (fresh.length > 0) crashPoint('after-artifact');
    // The words are the tool's own, also where a link has taken their place in the result.
    const said = outcome.kind === 'error' ? outcome : told.outcome;
    const message = told.message === undefined ? endMessage(said) : safeText(told.message);
    const settled = await tasks.settle({
      ...settlement,
      outcome,
      ...(message === undefined ? {} : { message }),
    });
    if (settled.kind !== 'settled' && fresh.length > 0) await discard(fresh);
    if (settled.kind === 'settled') {
      crashPoint('after-settlement');
      logger.info('task.settled', {
        task: options.nameInLogs(settled.task),
        reason: settlement.reason,
      });
      const keys = desk.waiting(settlement.taskId);
      announcer.closed(settlement.taskId, keys, 'withdrawn');
      announcer.changed(settled.task);
      for (const key of keys) desk.reply(key, { kind: 'withdrawn' });
      options.onSettled();
    }
    return settled;
  };

  const insist = async (
    settlement: Settlement,
    signal: AbortSignal,
  ): Promise<SettledTask | undefined> => {
    for (let failures = 0; ; failures += 1) {
      try {
        return await settle(settlement);
      } catch (thrown) {
        const attempt = settlement.fence?.attemptId;
        logger.error('task.settle_failed', {
          attempt,
          reason: settlement.reason,
          problem: messageOf(thrown),
        });
        if (
          isClosed(thrown) ||
          (await sleep(clock, backoffMs(RETRY, failures, random), signal)) === 'aborted'
        )
          return undefined;
      }
    }
  };

  return { settle, insist };
}
