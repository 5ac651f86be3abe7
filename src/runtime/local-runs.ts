import type { StopReason } from './job.ts';

/** A run of this process, as those see it who want it to stop. */
export interface LocalRun {
  readonly taskId: string;
  /** Tells the run to stop; the first reason counts. Returns at once. */
  stop(reason: StopReason): void;
  /** Resolves when the run is over, settled or left behind. Never rejects. */
  readonly ended: Promise<void>;
}

/** The runs of this process by task. */
export interface LocalRuns {
  /** Returns the way out. */
  enter(run: LocalRun): () => void;
  of(taskId: string): LocalRun | undefined;
  all(): readonly LocalRun[];
}

export function createLocalRuns(): LocalRuns {
  const byTask = new Map<string, LocalRun>();
  return {
    enter(run) {
      byTask.set(run.taskId, run);
      return () => {
        if (byTask.get(run.taskId) === run) byTask.delete(run.taskId);
      };
    },
    of: (taskId) => byTask.get(taskId),
    all: () => Array.from(byTask.values()),
  };
}
