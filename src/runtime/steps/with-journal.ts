import type { Job, RunTool } from '../job.ts';
import type { JobContext } from './context.ts';
import { runJournalled, type JournalledParts } from './run-journalled.ts';

/** One attempt of a tool that keeps a journal. */
export interface JournalledRun {
  readonly job: Job;
  readonly context: JobContext;
  /**
   * Aborted when the run has come to its end, or has gone to sleep: then the handler's promise never settles any more,
   * so whoever holds a request for it lets go of it.
   */
  readonly over: AbortSignal;
}

/** What a tool with a journal does: see JournalledHandler. */
export type HandleJob = (run: JournalledRun) => unknown;

export interface WithJournal extends JournalledParts {
  readonly run: RunTool;
  readonly handle: HandleJob;
}

/** Runs tools that keep a journal through it, and all others as they are. */
export function withJournal({ run, handle, ...parts }: WithJournal): RunTool {
  return async (job) => {
    if (job.tool.journalled !== true) return run(job);
    const over = new AbortController();
    try {
      return await runJournalled(
        job,
        (context) => handle({ job, context, over: over.signal }),
        parts,
      );
    } finally {
      over.abort('the run is over');
    }
  };
}
