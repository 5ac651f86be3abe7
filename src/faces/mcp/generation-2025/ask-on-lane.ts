import { createDeferred } from '../../../kernel/deferred.ts';
import type { InputAnswer } from '../../../protocol/model.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import type { Question } from '../../../runtime/job.ts';
import type { SessionRequest } from './request.ts';

const UNANSWERED: InputAnswer = {
  kind: 'error',
  error: { code: RPC_CODES.internalError, message: 'the caller went away before it answered' },
};

/** Asks the caller of a forwarded request, on that request's own stream, and waits for the answer. */
export function askOnLane(
  { session, lane, signal, gone }: SessionRequest,
  question: Question,
): Promise<InputAnswer> {
  const answer = createDeferred<InputAnswer>();
  const ask = session.ask(
    lane,
    { method: question.method, params: question.params },
    answer.resolve,
  );
  const stop = AbortSignal.any([signal, gone]);
  const onStop = (): void => {
    ask.cancel('the request has ended');
    answer.resolve(UNANSWERED);
  };
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  return answer.promise.finally(() => stop.removeEventListener('abort', onStop));
}
