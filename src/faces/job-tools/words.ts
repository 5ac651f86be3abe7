import { toIso } from '../../kernel/clock.ts';
import { QUOTE_CHARS, quotedFromPeer } from '../../kernel/quote.ts';
import type { TaskView } from '../../protocol/codec.ts';
import { expiresAt, type InputRequest, type Task } from '../../protocol/model.ts';
import { plainUpstreamName } from '../../protocol/upstream-name.ts';
import { JOB_WAIT_MS_MAX } from '../../runtime/job-tools.ts';
import type { NextCall } from './job-facts.ts';
import { formOf, isForModel, messageOfQuestion } from './questions.ts';

/** What a question and its form may take up in a text that a model reads. */
const FORM_CHARS = 4_000;

/** `2026-12-01 17:05 UTC`: times in texts are for people and models, to the minute. */
export const shownTime = (ms: number): string => `${toIso(ms).slice(0, 16).replace('T', ' ')} UTC`;

const MINUTE_MS = 60_000;

/** How long something has taken, in the largest unit that says enough. */
export function shownAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(ms / MINUTE_MS);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** The next call, as a model can copy it. */
export const callWords = ({ tool, arguments: args }: NextCall): string =>
  `${tool} with ${JSON.stringify(args)}`;

export const waitFor = (jobId: string): NextCall => ({
  tool: 'longcall_wait',
  arguments: { job: jobId },
});

export const quoted = ({ upstream }: Pick<Task, 'upstream'>, text: string): string =>
  quotedFromPeer(text, plainUpstreamName(upstream));

/** How the call of a tool goes on as a job. `isRepeat`: it is the job of an earlier call, recognized as the same. */
export function startedWords({ task }: TaskView, isRepeat: boolean): string {
  const repeat = isRepeat
    ? `Nothing new was started: this is the job of an earlier call with the same arguments. `
    : '';
  return (
    repeat +
    `${task.tool} is still running, as job ${task.id}. Nothing is lost: do not call ${task.tool} again for it. ` +
    `For the result call ${callWords(waitFor(task.id))}; it waits up to ${JOB_WAIT_MS_MAX / 1000} s and returns the ` +
    `result itself. ${laterWords(task)}`
  );
}

/** How a job stands that is still not done. */
export function runningWords({ task }: TaskView, now: number): string {
  const asked = task.cancelRequestedAt === undefined ? '' : ' It was asked to stop.';
  return (
    `Job ${task.id} (${task.tool}) is still running, after ${shownAge(now - task.createdAt)}.${asked} ` +
    `Call ${callWords(waitFor(task.id))} again. ${laterWords(task)}`
  );
}

const laterWords = (task: Task): string =>
  `If there is other work, do that first: the result is kept until ${shownTime(expiresAt(task))}.`;

/** The status message, which is a peer's text; nothing where there is none. */
export const messageWords = (task: Task): readonly string[] =>
  task.message === undefined ? [] : [`Its latest word. ${quoted(task, task.message)}`];

function answerCall({ task }: TaskView, key: string): string {
  const args = JSON.stringify({ job: task.id, question: key });
  return `longcall_answer with ${args.slice(0, -1)},"content":{…}}`;
}

/** A question to the model, with the call that answers it. */
function modelQuestionWords(view: TaskView, input: InputRequest): string {
  const text = `${messageOfQuestion(input)}\nform: ${JSON.stringify(formOf(input))}`;
  return (
    `The job asks you something and waits for it until ${shownTime(input.expiresAt)}. ` +
    `Answer with ${answerCall(view, input.key)}, where content has the fields of the form. ` +
    quotedFromPeer(text, plainUpstreamName(view.task.upstream), FORM_CHARS)
  );
}

/** How the person can be reached with a question: asked here already, or only elsewhere. */
export type Reach = 'here' | 'elsewhere';

function personQuestionWords(view: TaskView, input: InputRequest, reach: Reach): string {
  const where =
    reach === 'here'
      ? `They are asked in this host: call ${callWords(waitFor(view.task.id))} and let them answer.`
      : 'This host cannot show the question. Tell them that it waits: they can answer in a host that can be asked ' +
        `(MCP elicitation), or over REST (POST /jobs/${view.task.id}/answers).`;
  return (
    `The job asks the person something that only they may answer, until ${shownTime(input.expiresAt)}. ${where} ` +
    `Do not answer for them. ${quotedFromPeer(messageOfQuestion(input), plainUpstreamName(view.task.upstream), QUOTE_CHARS)}`
  );
}

/** The open questions of a job. `reachOf`: how the person can be reached with one. */
export const questionWords = (
  view: TaskView,
  reachOf: (input: InputRequest) => Reach,
): readonly string[] =>
  view.inputs.map((input) =>
    isForModel(input)
      ? modelQuestionWords(view, input)
      : personQuestionWords(view, input, reachOf(input)),
  );
