import { crashPoint } from '../kernel/crash-point.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Task } from '../protocol/model.ts';
import type { RunnableAttempt, Fence, UpstreamTask } from '../stores/attempts.ts';
import type { Core } from './core.ts';
import type { Job, JobJournal } from './job.ts';
import type { ServedTool } from './tool.ts';

/** What a run has done so far. */
export interface RunState {
  /** Whether something may have gone upstream, now or in an earlier attempt. */
  sent: boolean;
  /** Its end is known: nothing that its handler still says counts. */
  over: boolean;
  /** It went to sleep in good order: its next attempt is in the store. */
  parked: boolean;
}

export interface RunJobOptions {
  readonly core: Core;
  readonly claimed: RunnableAttempt;
  readonly task: Task;
  readonly tool: ServedTool;
  readonly fence: Fence;
  readonly upstreamTask: UpstreamTask | undefined;
  /** Aborted when the run is told to stop. */
  readonly signal: AbortSignal;
  readonly deadline: number;
  readonly journal: JobJournal;
  readonly ask: Job['ask'];
  readonly setStatus: (text: string) => void;
}

/**
 * What the handler gets to work with. Nothing in it rejects; once the run was told to stop, nothing is sent or told any
 * more, since its task may have ended already (G1-141).
 */
export function createRunJob(options: RunJobOptions, state: RunState): Job {
  const { core, claimed, task, fence, signal, upstreamTask } = options;
  const { attempts } = core.store;
  const sentEarlier = state.sent;
  /** The ledger has let an effect go a second time: nothing here does that, so it is counted where it would show. */
  const noteDuplicate = (): void => {
    const { upstream, tool, operationId, journalled } = task;
    if (!sentEarlier || operationId === undefined || journalled) return;
    core.duplicates.add({ upstream, tool });
    core.logger.error('effect.sent_twice', { operation: operationId });
  };
  const isHeard = (): boolean => !state.over && !signal.aborted;
  const report =
    (event: string) =>
    (thrown: unknown): undefined => {
      core.logger.error(event, { attempt: fence.attemptId, problem: messageOf(thrown) });
      return undefined;
    };
  return {
    task,
    tool: options.tool,
    request: claimed.request,
    attempt: claimed.attempt.number,
    ...(upstreamTask ? { upstreamTask } : {}),
    signal,
    deadline: options.deadline,
    journal: options.journal,
    async dispatched() {
      if (!isHeard()) return false;
      const marked = await attempts.markDispatched(fence).catch(report('attempt.mark_failed'));
      state.sent ||= marked !== false; // a mark whose answer got lost may be there
      if (marked) noteDuplicate();
      if (marked) crashPoint('before-first-upstream-byte');
      return marked === true;
    },
    async journalUpstream(journalled) {
      const kept = attempts.journalUpstream(fence, journalled);
      return (await kept.catch(report('attempt.journal_failed'))) === true;
    },
    ask: options.ask,
    status(text) {
      if (isHeard()) options.setStatus(text);
    },
    progress(params) {
      const { feed } = core.announcer;
      if (isHeard()) feed.publish(task.id, { kind: 'progress', taskId: task.id, params });
    },
    log(params) {
      const { feed } = core.announcer;
      if (isHeard()) feed.publish(task.id, { kind: 'log', taskId: task.id, params });
    },
  };
}
