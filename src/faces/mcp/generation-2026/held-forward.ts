import { createDeferred, type Deferred } from '../../../kernel/deferred.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { InputAnswer } from '../../../protocol/model.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import type { Question } from '../../../runtime/job.ts';
import { RpcFailure } from '../../../runtime/surface.ts';
import { forward } from '../call/forward.ts';
import type { RequestSite } from '../call/request-site.ts';
import { canBeAsked } from '../client-capabilities.ts';
import { draining } from '../failures.ts';
import { assertWellFormed } from '../input-responses.ts';
import { resultReply } from '../reply.ts';
import type { HeldCall, RoundQuestion, Step } from './held-call.ts';

interface OpenQuestion extends RoundQuestion {
  readonly answer: Deferred<InputAnswer>;
}

const UNANSWERABLE: InputAnswer = {
  kind: 'error',
  error: { code: RPC_CODES.internalError, message: 'the caller cannot be asked (any more)' },
};

/** A task that an upstream made is none of ours: its id could not be served to this caller (G2-04, decision 17). */
function assertNoTask(result: JsonObject): JsonObject {
  if (result['resultType'] !== 'task') return result;
  throw new RpcFailure(
    RPC_CODES.internalError,
    'the upstream answered with a task although none was asked for',
  );
}

/** A forwarded request whose upstream may ask in the middle of it, over one or more requests of the caller. */
export function createHeldForward(first: RequestSite, method: string): HeldCall {
  const { random } = first.face;
  const stopped = new AbortController();
  const open = new Map<string, OpenQuestion>();
  let current: RequestSite | undefined = first;
  let asked = createDeferred<'asked'>();

  const onAsk = (question: Question): Promise<InputAnswer> => {
    const key = newId('input', random);
    const answer = createDeferred<InputAnswer>();
    open.set(key, { ...question, key, answer });
    asked.resolve('asked');
    return answer.promise;
  };
  const through: RequestSite = {
    ...first,
    signal: stopped.signal,
    notify: (name, params) => current?.notify(name, params),
  };
  const start = (): Promise<JsonObject> => {
    const result = forward(through, method, onAsk).then(assertNoTask);
    result.catch(() => undefined); // between two rounds nobody waits for it; the next round does
    return result;
  };
  let running: Promise<JsonObject> | undefined;

  const settle = (question: OpenQuestion, answer: InputAnswer): void => {
    open.delete(question.key);
    question.answer.resolve(answer);
  };
  const drop = (): void => {
    stopped.abort('gone');
    for (const question of Array.from(open.values())) settle(question, UNANSWERABLE);
  };
  const askable = (site: RequestSite): readonly RoundQuestion[] => {
    for (const question of Array.from(open.values()))
      if (!canBeAsked(site.asks, question)) settle(question, UNANSWERABLE);
    return Array.from(open.values());
  };
  const wait = async (site: RequestSite): Promise<Step> => {
    running ??= start();
    const questions = askable(site);
    if (questions.length > 0) return { kind: 'ask', questions };
    asked = createDeferred<'asked'>();
    const came = await Promise.race([running, asked.promise, aborted(site.signal)]);
    if (came === 'asked') return wait(site);
    if (came !== 'aborted') return { kind: 'reply', reply: resultReply(came) };
    drop();
    if (site.signal.reason === 'closing') throw draining();
    return { kind: 'reply', reply: undefined };
  };
  return {
    async next(site) {
      current = site;
      try {
        return await wait(site);
      } finally {
        current = undefined;
      }
    },
    async answer(_site, responses) {
      assertWellFormed(responses, Array.from(open.keys()));
      for (const [key, answer] of Object.entries(responses.answers)) {
        const question = open.get(key);
        if (question) settle(question, answer);
      }
    },
    drop,
  };
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve('aborted'), { once: true }),
  );
}
