import { AsyncLocalStorage } from 'node:async_hooks';
import { LongcallError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Job } from '../runtime/job.ts';
import type { JobContext } from '../runtime/steps/context.ts';

/** The run on whose behalf the author's server is being called. */
export interface CurrentRun {
  readonly job: Pick<Job, 'task' | 'tool' | 'signal'>;
  /** Present where the tool was registered with a handler of ours, which keeps a journal. */
  readonly journalled?: JournalledRun;
}

export interface JournalledRun {
  readonly context: JobContext;
  /** Takes part in the handler's fate: what it throws is known as it was, not only as the SDK puts it into words. */
  play(work: () => Promise<JsonObject>): Promise<JsonObject>;
}

/**
 * Messages to a server in this process are delivered in the async context of their sender, so its handlers run in it: no
 * token has to travel, whatever the SDK hands to a handler.
 */
const storage = new AsyncLocalStorage<CurrentRun | undefined>();

export const duringRun = <T>(run: CurrentRun, work: () => T): T => storage.run(run, work);

/** For what outlives a call: connections, and servers made for them. */
export const outsideRuns = <T>(work: () => T): T => storage.run(undefined, work);

export const currentRun = (): CurrentRun | undefined => storage.getStore();

/** The run of that tool. Throws where its server was called around longcall. */
export function journalledRun(tool: string): JournalledRun {
  const run = storage.getStore();
  if (run?.journalled && run.job.tool.upstreamName === tool) return run.journalled;
  throw new LongcallError(
    'LONGCALL_LIBRARY_USAGE',
    `"${tool}" was called around longcall, so nothing of this call would survive: serve its server with tasks.handler(…) or tasks.stdio(…), and connect it to no transport yourself`,
  );
}
