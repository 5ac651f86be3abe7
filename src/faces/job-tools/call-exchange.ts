import type { TaskView } from '../../protocol/codec.ts';
import type { Task } from '../../protocol/model.ts';
import { jobWindowMs } from '../../runtime/job-tools.ts';
import type { CallSite } from '../mcp/call/call-site.ts';
import { inlineAnswer } from '../mcp/call/inline-answer.ts';
import type { StartedCall } from '../mcp/call/repeated.ts';
import { noSuchTask } from '../mcp/failures.ts';
import type { Reply } from '../mcp/reply.ts';
import { endedReply } from './ended.ts';
import { questionFacts, reachesPerson, type JobExchange } from './exchange.ts';
import { jobFacts } from './job-facts.ts';
import { cutOff, jobReply, noteCut, sayResult } from './job-reply.ts';
import { shownBytes } from './result-parts.ts';
import { messageWords, questionWords, startedWords, waitFor } from './words.ts';

/** A plain answer above this comes in parts where the tool says nothing else (architecture §7, artifact threshold). */
const INLINE_BYTES_MAX = 256 * 1024;

/** The handle leaves. Only when it was written is it given (decision 1). */
function handleReply(site: CallSite, view: TaskView, isRepeat: boolean): Reply {
  const next = waitFor(view.task.id);
  const words = [
    startedWords(view, isRepeat),
    ...messageWords(view.task),
    ...questionWords(view, (input) => (reachesPerson(site, input) ? 'here' : 'elsewhere')),
  ];
  const facts = { ...jobFacts(view, next), ...questionFacts(view) };
  return jobReply(site, view, {
    result: sayResult({ words, facts }),
    more: (delivery) => {
      if (delivery === 'gone' && site.generation === '2026-07-28') cutOff(site, view);
    },
  });
}

/** The plain answer, as if there were no jobs (O3); what would fill a model's window comes in parts (Z1). */
async function plainReply(site: CallSite, task: Task): Promise<Reply> {
  const most = site.tool.artifactAbove ?? INLINE_BYTES_MAX;
  const view = await site.face.receiver.view(site.principal, task.id, true);
  const { outcome } = view ?? {};
  if (view && outcome?.kind === 'result' && shownBytes(outcome.result) > most)
    return endedReply(site, view);
  return inlineAnswer(site, task);
}

/**
 * What a job may ask: what its host declares, and of a tool with a journal also forms, since its author can mark fields
 * for the model, which `longcall_answer` takes. An upstream's forms are all for the person, so there the host decides.
 */
export const askableAsJob = (call: CallSite): CallSite =>
  call.tool.journalled === true && !call.asks.includes('elicitation-form')
    ? { ...call, asks: [...call.asks, 'elicitation-form'] }
    : call;

/** The call that starts a job: its window, then the handle. */
export function createCallExchange(site: CallSite, { task, repeated }: StartedCall): JobExchange {
  const { clock, patience } = site.face;
  const begun = clock.monotonic();
  return {
    jobId: task.id,
    forMs: patience.within(site.principal, jobWindowMs(site.tool)),
    ended: () => plainReply(site, task),
    pending: (view) => handleReply(site, view, repeated !== undefined),
    stopped(view) {
      noteCut(site, clock.monotonic() - begun);
      cutOff(site, view);
    },
    gone: () => {
      throw noSuchTask();
    },
  };
}
