import type { JsonObject } from '../../kernel/json.ts';
import type { TaskView } from '../../protocol/codec.ts';
import type { InputRequest } from '../../protocol/model.ts';
import { canBeAsked } from '../mcp/client-capabilities.ts';
import type { RequestSite } from '../mcp/call/request-site.ts';
import type { Reply } from '../mcp/reply.ts';
import { isStopped } from '../mcp/call/bounded-call.ts';
import { awaitJob, type JobTurn } from './await-job.ts';
import { formOf, isForModel, messageOfQuestion } from './questions.ts';

/**
 * One request that waits for a job: the call that started it, or a helper. How its caller's person is asked meanwhile is
 * the generation's own affair; what is answered is decided here.
 */
export interface JobExchange {
  readonly jobId: string;
  readonly forMs: number;
  ended(view: TaskView): Promise<Reply>;
  /** Not ended: it still runs, or asks something that this answer carries. */
  pending(view: TaskView): Reply;
  /** The caller has stopped the request or is gone. */
  stopped(view: TaskView): void;
  /** There is no such job, or not any more. */
  gone(): Reply;
}

/** Whether the person behind this request can be asked this on the request's own way. */
export const reachesPerson = ({ asks }: RequestSite, input: InputRequest): boolean =>
  !isForModel(input) && canBeAsked(asks, input);

/**
 * Whether a question ends the wait: one to the model always; one to the person where it has just come up and this host
 * cannot show it. One that was open before and reaches nobody here is waited for, so that who polls blindly polls slowly.
 */
export const comesBack =
  (site: RequestSite) =>
  (input: InputRequest, isNew: boolean): boolean =>
    isForModel(input) || (isNew && !reachesPerson(site, input));

/** The answer of a turn, where a question needs no other way than the answer itself; nothing where none is due. */
export async function replyOf(
  site: RequestSite,
  exchange: JobExchange,
  turn: JobTurn,
): Promise<Reply | undefined> {
  switch (turn.kind) {
    case 'gone':
      return exchange.gone();
    case 'ended':
      return exchange.ended(turn.view);
    case 'asked':
    case 'elapsed':
      return exchange.pending(turn.view);
    case 'aborted':
      // What is on record already needs no waiting: at a shutdown the handle is the answer.
      if (!isStopped(site)) return exchange.pending(turn.view);
      exchange.stopped(turn.view);
      return undefined;
  }
}

/** Runs an exchange whose person, if any, is asked beside it. */
export async function runExchange(
  site: RequestSite,
  exchange: JobExchange,
): Promise<Reply | undefined> {
  const { jobId, forMs } = exchange;
  const turn = await awaitJob(site, { jobId, forMs, stopsAt: comesBack(site) });
  return replyOf(site, exchange, turn);
}

/** Open questions as a program reads them. What only the person may answer is named and not shown. */
export const questionFacts = ({ inputs }: TaskView): JsonObject =>
  inputs.length === 0
    ? {}
    : {
        questions: inputs.map((input) =>
          isForModel(input)
            ? {
                question: input.key,
                answeredBy: 'model',
                message: messageOfQuestion(input),
                form: formOf(input),
              }
            : { question: input.key, answeredBy: 'person' },
        ),
      };
