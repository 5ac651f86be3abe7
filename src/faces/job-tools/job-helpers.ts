import type { Verb } from '../../identity/permissions.ts';
import { hasScope } from '../../identity/permissions.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { Task } from '../../protocol/model.ts';
import { statusOf } from '../../protocol/task-machine.ts';
import { JOB_WAIT_MS_MAX, type JobHelper } from '../../runtime/job-tools.ts';
import type { RequestSite } from '../mcp/call/request-site.ts';
import { invalidParams, scopeMissing } from '../mcp/failures.ts';
import { resultReply, type Reply } from '../mcp/reply.ts';
import { answerAsModel } from './answering.ts';
import { readAnswer, readCursor, readJobId, readPart, readWaitMs, type Read } from './arguments.ts';
import type { JobExchange } from './exchange.ts';
import { jobFacts, JOB_MEMBER } from './job-facts.ts';
import { noSuchJob, refusal } from './job-reply.ts';
import { createWaitExchange, endedNow, runningReply } from './wait-exchange.ts';
import { shownAge, waitFor } from './words.ts';

/** What a helper comes to: an answer, or a wait for the job. */
export type Helped =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'wait'; readonly exchange: JobExchange };

/** How long `longcall_cancel` waits for the run to stop: its grace, and a little. */
const CANCEL_WAIT_MS = 8_000;

/** Asked before any look-up, so that known and unknown ids are refused alike (T42). */
export const HELPER_SCOPES: Readonly<Record<JobHelper, readonly Verb[]>> = {
  longcall_wait: ['task.read', 'task.result'],
  longcall_result: ['task.read', 'task.result'],
  longcall_answer: ['task.read', 'task.answer'],
  longcall_cancel: ['task.read', 'task.cancel'],
  longcall_list: ['task.list'],
};

const replied = (reply: Reply): Helped => ({ kind: 'reply', reply });
const said = (result: JsonObject): Helped => replied(resultReply(result));

type Help = (site: RequestSite, args: JsonObject) => Promise<Helped>;

/** For a helper whose arguments could be read; what could not is said to the model. */
const withRead = async <T>(
  read: Read<T>,
  go: (value: T) => Helped | Promise<Helped>,
): Promise<Helped> => (read.kind === 'read' ? go(read.value) : said(refusal(read.problem)));

const wait: Help = (site, args) =>
  withRead(readJobId(args), (jobId) => ({
    kind: 'wait',
    exchange: createWaitExchange(site, { jobId, forMs: readWaitMs(args) }),
  }));

const result: Help = (site, args) =>
  withRead(readJobId(args), (jobId) =>
    withRead(readPart(args), async (part) => {
      const view = await site.face.receiver.view(site.principal, jobId, false);
      if (!view) return said(noSuchJob());
      if (view.task.phase === 'ended') return replied(await endedNow(site, jobId, part));
      return replied(runningReply(site, view, ['There is no result yet.']));
    }),
  );

/** Taken, it waits like `longcall_wait`: the answer is mostly what the job was missing, so this saves a turn. */
const answer: Help = (site, args) =>
  withRead(readJobId(args), (jobId) =>
    withRead(readAnswer(args), async (given) => {
      const answered = await answerAsModel(site, jobId, given);
      if (answered.kind === 'refused') return said(answered.result);
      const options = { jobId, forMs: JOB_WAIT_MS_MAX, before: [answered.words] };
      return { kind: 'wait', exchange: createWaitExchange(site, options) };
    }),
  );

const cancel: Help = (site, args) =>
  withRead(readJobId(args), async (jobId) => {
    const cancelled = await site.face.receiver.cancel(site.principal, jobId, 'cooperative');
    if (cancelled.kind === 'missing') return said(noSuchJob());
    const before = ['The job was told to stop.'];
    const exchange = createWaitExchange(site, { jobId, forMs: CANCEL_WAIT_MS, before });
    return { kind: 'wait', exchange };
  });

const listWords = (task: Task, now: number): string =>
  `${task.id}  ${task.tool}  ${statusOf(task, '2025-11-25')}  started ${shownAge(now - task.createdAt)} ago`;

const list: Help = (site, args) =>
  withRead(readCursor(args), async (cursor) => {
    const listed = await site.face.receiver.list(site.principal, cursor);
    if (listed.kind === 'bad_cursor') return said(refusal('That cursor is none of this list.'));
    const { tasks, nextCursor } = listed.page;
    const now = site.face.clock.now();
    const lines = tasks.map((task) => listWords(task, now));
    const words = [
      tasks.length === 0 ? 'No jobs.' : `Jobs, newest first:\n${lines.join('\n')}`,
      ...(tasks.length === 0 ? [] : [`For a result call longcall_wait with {"job":"<id>"}.`]),
      ...(nextCursor === undefined ? [] : [`More with {"cursor":"${nextCursor}"}.`]),
    ];
    const jobs = tasks.map((task) => jobFacts({ task, inputs: [] }, waitFor(task.id)));
    const facts = { jobs, ...(nextCursor === undefined ? {} : { nextCursor }) };
    return said({
      content: [{ type: 'text', text: words.join('\n\n') }],
      structuredContent: { [JOB_MEMBER]: facts },
    });
  });

const HELP: Readonly<Record<JobHelper, Help>> = {
  longcall_wait: wait,
  longcall_result: result,
  longcall_answer: answer,
  longcall_cancel: cancel,
  longcall_list: list,
};

/** Calls a helper in this request's name. */
export async function help(site: RequestSite, helper: JobHelper): Promise<Helped> {
  const { arguments: args = {} } = site.params;
  if (!isJsonObject(args)) throw invalidParams('arguments must be an object');
  const missing = HELPER_SCOPES[helper].find((scope) => !hasScope(site.principal, scope));
  if (missing !== undefined) throw scopeMissing(missing);
  const params = { taskId: args['job'] };
  const tooMany = site.face.reads.refusal(site.principal, { method: 'tasks/get', params });
  if (tooMany) throw tooMany.failure;
  return HELP[helper](site, args);
}
