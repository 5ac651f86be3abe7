import type { JsonObject } from '../../kernel/json.ts';
import type { TaskView } from '../../protocol/codec.ts';
import { fieldsOf } from '../../protocol/field-class.ts';
import type { InputRequest } from '../../protocol/model.ts';
import type { RequestSite } from '../mcp/call/request-site.ts';
import type { ModelAnswer } from './arguments.ts';
import { noSuchJob, refusal } from './job-reply.ts';
import { formOf, isForModel, messageOfQuestion } from './questions.ts';
import { callWords, quoted, waitFor } from './words.ts';

/** What became of a model's answer: it was taken, or why not. */
export type ModelAnswered =
  | { readonly kind: 'taken'; readonly words: string }
  | { readonly kind: 'refused'; readonly result: JsonObject };

const refused = (words: string): ModelAnswered => ({ kind: 'refused', result: refusal(words) });

/** The question that is meant: the one that is named, or the only one that a model may answer. */
function pick(
  { inputs }: TaskView,
  question: string | undefined,
): InputRequest | 'none' | 'several' {
  if (question !== undefined) return inputs.find(({ key }) => key === question) ?? 'none';
  const [only, ...more] = inputs.filter(isForModel);
  if (more.length > 0) return 'several';
  return only ?? inputs[0] ?? 'none';
}

/**
 * Gives a model's answer to a question that a model may answer, and refuses every other: what only the person may say is
 * not said by somebody else in their name (decision 8).
 */
export async function answerAsModel(
  site: RequestSite,
  jobId: string,
  { question, content }: ModelAnswer,
): Promise<ModelAnswered> {
  const { receiver } = site.face;
  const view = await receiver.view(site.principal, jobId, false);
  if (!view) return { kind: 'refused', result: noSuchJob() };
  const input = pick(view, question);
  const wait = callWords(waitFor(jobId));
  if (input === 'none')
    return refused(
      `That question is not open: it was answered, has expired, or was never asked. Call ${wait}.`,
    );
  if (input === 'several') return refused('Several questions are open: name one with question.');
  if (!isForModel(input))
    return refused(
      `Only the person may answer this. Nothing was taken. Call ${wait}, and let them answer. ` +
        quoted(view.task, messageOfQuestion(input)),
    );
  const fields = fieldsOf(formOf(input));
  const beyond = Object.keys(content).filter((name) => !Object.hasOwn(fields, name));
  if (beyond.length > 0)
    return refused(`The form has only these fields: ${Object.keys(fields).join(', ')}.`);
  const result = { action: 'accept', content };
  const answered = await receiver.answer(site.principal, jobId, {
    [input.key]: { kind: 'result', result },
  });
  if (answered.kind === 'missing') return { kind: 'refused', result: noSuchJob() };
  if (answered.kind === 'malformed')
    return refused(`The answer does not fit, and the question is still open: ${answered.problem}.`);
  if (answered.taken.length > 0) return { kind: 'taken', words: 'The answer was taken.' };
  const why =
    answered.expired.length > 0
      ? 'Its time had passed'
      : 'It was answered before, and the first answer counts';
  return refused(`That question is closed. ${why}. Call ${wait}.`);
}
