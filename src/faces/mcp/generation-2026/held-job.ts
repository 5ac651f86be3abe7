import type { TaskView } from '../../../protocol/codec.ts';
import { awaitJob } from '../../job-tools/await-job.ts';
import { comesBack, reachesPerson, replyOf, type JobExchange } from '../../job-tools/exchange.ts';
import type { RequestSite } from '../call/request-site.ts';
import { noSuchTask } from '../failures.ts';
import { assertWellFormed, malformedAnswer } from '../input-responses.ts';
import type { HeldCall, RoundQuestion } from './held-call.ts';

const forPerson = (site: RequestSite, { inputs }: TaskView): readonly RoundQuestion[] =>
  inputs.filter((input) => reachesPerson(site, input));

/**
 * A request that waits for a job of this caller's, over one or more rounds: what the job asks the person goes back as a
 * round, what it asks the model as the answer. `relay` passes progress on to the stream of one request.
 */
export function createHeldJob(
  exchange: JobExchange,
  relay: (site: RequestSite) => () => void,
): HeldCall {
  const { jobId, forMs } = exchange;
  return {
    async next(site) {
      const stop = relay(site);
      const back = comesBack(site);
      try {
        const turn = await awaitJob(site, {
          jobId,
          forMs,
          stopsAt: (input, isNew) => reachesPerson(site, input) || back(input, isNew),
        });
        const questions = turn.kind === 'asked' ? forPerson(site, turn.view) : [];
        if (questions.length > 0) return { kind: 'ask', questions };
        return { kind: 'reply', reply: await replyOf(site, exchange, turn) };
      } finally {
        stop();
      }
    },
    async answer(site, responses) {
      const { receiver } = site.face;
      const view = await receiver.view(site.principal, jobId, false);
      const live = view ? forPerson(site, view).map(({ key }) => key) : [];
      assertWellFormed(responses, live);
      const given = Object.entries(responses.answers).filter(([key]) => live.includes(key));
      const answered = await receiver.answer(site.principal, jobId, Object.fromEntries(given));
      if (answered.kind === 'missing') throw noSuchTask();
      if (answered.kind === 'malformed') throw malformedAnswer(answered.key, answered.problem);
    },
    // The job goes on: its questions are the job's, and whoever asks for it next is asked them again.
    drop: () => undefined,
  };
}
