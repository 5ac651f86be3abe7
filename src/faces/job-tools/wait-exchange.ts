import type { TaskView } from '../../protocol/codec.ts';
import type { RequestSite } from '../mcp/call/request-site.ts';
import { resultReply, type Reply } from '../mcp/reply.ts';
import { endedReply } from './ended.ts';
import { questionFacts, reachesPerson, type JobExchange } from './exchange.ts';
import { jobFacts } from './job-facts.ts';
import { jobReply, noSuchJob, noteCut, sayResult } from './job-reply.ts';
import { messageWords, questionWords, runningWords, waitFor } from './words.ts';

/** How a job stands that has not ended. `before`: what is to be said first. */
export function runningReply(
  site: RequestSite,
  view: TaskView,
  before: readonly string[] = [],
): Reply {
  const words = [
    ...before,
    runningWords(view, site.face.clock.now()),
    ...messageWords(view.task),
    ...questionWords(view, (input) => (reachesPerson(site, input) ? 'here' : 'elsewhere')),
  ];
  const facts = { ...jobFacts(view, waitFor(view.task.id)), ...questionFacts(view) };
  return jobReply(site, view, { result: sayResult({ words, facts }) });
}

export async function endedNow(site: RequestSite, jobId: string, part?: number): Promise<Reply> {
  const view = await site.face.receiver.view(site.principal, jobId, true);
  return view ? endedReply(site, view, part) : resultReply(noSuchJob());
}

export interface WaitOptions {
  readonly jobId: string;
  readonly forMs: number;
  /** Said before how the job stands. */
  readonly before?: readonly string[];
}

/** A bounded wait for a job that exists already: whatever becomes of the request, the job goes on. */
export function createWaitExchange(site: RequestSite, options: WaitOptions): JobExchange {
  const { clock, patience } = site.face;
  const { jobId, before } = options;
  const begun = clock.monotonic();
  return {
    jobId,
    forMs: patience.within(site.principal, options.forMs),
    ended: () => endedNow(site, jobId),
    pending: (view) => runningReply(site, view, before),
    stopped: () => noteCut(site, clock.monotonic() - begun),
    gone: () => resultReply(noSuchJob()),
  };
}
