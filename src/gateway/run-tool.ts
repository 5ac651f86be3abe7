import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import { objectAt } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { callTool, observeTask } from '../requestor/call-tool.ts';
import { headerParamsOf } from '../requestor/header-params.ts';
import { cancelTask } from '../requestor/observation.ts';
import { answerFor } from '../requestor/owner-questions.ts';
import type { CallContext, ToolCall, ToolCallEnd } from '../requestor/tool-call.ts';
import type { Job, RunTool } from '../runtime/job.ts';
import type { UpstreamTask } from '../stores/attempts.ts';
import { createCallLine, type CallLine } from './call-line.ts';
import type { LogLevels } from './log-levels.ts';
import type { Settings } from './options.ts';
import { taskSupportOf } from './peer-document.ts';
import { progressText } from './progress-text.ts';
import { runEndOf } from './run-ends.ts';
import type { Upstream } from './upstream.ts';

/** Tries of one call in all its runs: a call that kills its upstream must not do so for ever. */
const TRIES_MAX = 3;
const RETRY: Backoff = { firstMs: 200, maxMs: 5_000, factor: 3 };
/** How long a task that was cancelled upstream is watched for how it ended. */
const CANCELLED_MS_MAX = 3_000;
/** HTTP statuses with which a front or a proxy says: not now. */
const BUSY: readonly number[] = [429, 502, 503, 504];

export interface RunToolParts {
  readonly settings: Settings;
  readonly upstreams: readonly Upstream[];
  readonly levels: LogLevels;
}

/** Runs tools that are calls to upstreams. */
export function createRunTool(parts: RunToolParts): RunTool {
  return async (job) => {
    const upstream = parts.upstreams.find(({ options }) => options.name === job.tool.upstream);
    if (!upstream) return runEndOf({ kind: 'unsent', problem: 'it is not configured' }, job);
    const line = lineFor(job, upstream, job.task.asks.length > 0);
    try {
      const ended = await play(parts, { job, upstream, line });
      line.end(job.signal.aborted ? 'discard' : 'release');
      return runEndOf(ended, job);
    } finally {
      line.end('release');
    }
  };
}

/** `mayAsk`: whether the call needs a connection on which a question can only be its own. */
export function lineFor(job: Job, upstream: Upstream, mayAsk: boolean): CallLine {
  const { task, signal } = job;
  return createCallLine({
    // Given up, a call may still need a connection: to cancel the task that an earlier run left with the upstream.
    lease: (until = signal) => upstream.lease({ principalKey: task.owner, mayAsk, signal: until }),
    attendant: {
      async ask(question, withdrawn) {
        const [reply = { kind: 'withdrawn' } as const] = await job.ask([question], withdrawn);
        return answerFor(question, reply);
      },
      progress(params) {
        job.progress(params);
        const text = progressText(params);
        if (text !== undefined) job.status(text);
      },
      log: (params) => job.log(params),
    },
  });
}

interface Run {
  readonly job: Job;
  readonly upstream: Upstream;
  readonly line: CallLine;
}

/** Calls, or goes on observing; tries again what can have done nothing, or no harm. */
async function play(parts: RunToolParts, run: Run): Promise<ToolCallEnd> {
  const { job, line, upstream } = run;
  const { clock, random } = parts.settings;
  const noted: { task?: UpstreamTask } = job.upstreamTask ? { task: job.upstreamTask } : {};
  // How a tool is called that is only presumed to be there is known once its upstream is.
  if (!upstream.document()) await line.seat(job.signal).catch(() => undefined);
  for (let tries = job.attempt; ; tries += 1) {
    const context = contextOf(parts, run, noted);
    const ended = await attempt(context, noted.task);
    if (noted.task && (await isGivenUp(context, ended))) return cancelUpstream(context, noted.task);
    if (tries >= TRIES_MAX || job.signal.aborted || !mayTryAgain(ended, job)) return ended;
    line.hangUp();
    delete noted.task;
    await sleep(clock, backoffMs(RETRY, tries - job.attempt, random), job.signal);
  }
}

/** How long the word that a run is over may be behind the write that was refused because of it. */
const GIVEN_UP_MS_MAX = 2_000;

/**
 * Whether nobody wants the upstream's task any more. A record that ended at once (2025-11-25) refuses the journal's
 * write before its run is told: then the task is there, and only this run knows of it.
 */
async function isGivenUp(context: CallContext, ended: ToolCallEnd): Promise<boolean> {
  const { signal, clock } = context;
  if (ended.kind !== 'stopped' && ended.kind !== 'fenced') return false;
  if (ended.kind === 'fenced') await sleep(clock, GIVEN_UP_MS_MAX, signal);
  return signal.aborted && context.passesAbort(signal.reason);
}

async function attempt(
  context: CallContext,
  observed: UpstreamTask | undefined,
): Promise<ToolCallEnd> {
  try {
    return observed ? await observeTask(context, observed) : await callTool(context);
  } catch (error) {
    if (context.signal.aborted) return { kind: 'stopped' };
    const reason = error instanceof LongcallError ? (error.cause ?? error) : error;
    return { kind: 'unsent', problem: messageOf(reason) };
  }
}

/** What was never sent may be sent; a read may be repeated; nothing else may (decision 6). */
function mayTryAgain(ended: ToolCallEnd, { task, tool }: Job): boolean {
  if (ended.kind === 'unsent') return true;
  if (task.effect !== 'read' || tool.effect !== 'read') return false;
  if (ended.kind === 'http') return BUSY.includes(ended.status);
  return ended.kind === 'lost' || ended.kind === 'session_gone' || ended.kind === 'task_lost';
}

/** Stops the upstream's own task. What it says of the end within a moment is worth more than our guess. */
async function cancelUpstream(context: CallContext, task: UpstreamTask): Promise<ToolCallEnd> {
  const moment = new AbortController();
  const timer = context.clock.after(CANCELLED_MS_MAX, () => moment.abort());
  const after = { ...context, signal: moment.signal };
  await cancelTask(after, task);
  const ended = await observeTask(after, task).catch((): ToolCallEnd => ({ kind: 'stopped' }));
  timer.cancel();
  return ended.kind === 'result' || ended.kind === 'error' ? ended : { kind: 'stopped' };
}

function contextOf(
  parts: RunToolParts,
  { job, upstream, line }: Run,
  noted: { task?: UpstreamTask },
): CallContext {
  const { clock, random } = parts.settings;
  return {
    line,
    hooks: {
      dispatched: () => job.dispatched(),
      journal(task) {
        noted.task = task;
        return job.journalUpstream(task);
      },
      ask: (questions, withdrawn) => job.ask(questions, withdrawn),
      status: (text) => job.status(text),
    },
    call: toolCallOf(parts, job, upstream),
    signal: job.signal,
    passesAbort: (reason) => reason !== 'shutdown' && reason !== 'lease_lost',
    clock,
    random,
  };
}

export function toolCallOf(
  { settings, levels }: RunToolParts,
  job: Job,
  upstream: Upstream,
): ToolCall {
  const { tool, task, request } = job;
  const document = upstream.document();
  const definition = document?.tools.find((listed) => listed['name'] === tool.upstreamName);
  const headers = headerParamsOf(objectAt(definition ?? tool.definition, 'inputSchema'));
  return {
    name: tool.upstreamName,
    arguments: request.arguments,
    meta: request.meta,
    asks: task.asks,
    taskSupport: (document && definition && taskSupportOf(document, definition)) ?? 'forbidden',
    headerParams: headers.kind === 'valid' ? headers.params : [],
    logLevel: levels.levelOf(task.owner) ?? 'debug',
    taskTtlMs: task.ttlMs,
    resultBytesMax: settings.resultBytesMax,
  };
}
