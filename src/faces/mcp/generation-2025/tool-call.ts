import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import { codec2025 } from '../../../protocol/select-codec.ts';
import { guardWords } from '../../../runtime/idempotency/repeat-words.ts';
import { isJobHelper, type JobHelper } from '../../../runtime/job-tools.ts';
import type { CallerKind, RefusalReason } from '../../../runtime/modes.ts';
import { askableAsJob, createCallExchange } from '../../job-tools/call-exchange.ts';
import { runExchange, type JobExchange } from '../../job-tools/exchange.ts';
import { help } from '../../job-tools/job-helpers.ts';
import { isForPerson } from '../../job-tools/questions.ts';
import { awaitPlain } from '../call/bounded-call.ts';
import { readCall, start, startHeard, type CallSite } from '../call/call-site.ts';
import { forward } from '../call/forward.ts';
import { relayJob, relayTask } from '../call/relay.ts';
import { markRepeat, type StartedCall } from '../call/repeated.ts';
import { routeOf } from '../call/route.ts';
import type { Face } from '../face.ts';
import { invalidParams, noTaskSupport, refusedByPolicy, taskRequired2025 } from '../failures.ts';
import { resultReply, type Reply } from '../reply.ts';
import type { RequestSite } from '../call/request-site.ts';
import { askOnLane } from './ask-on-lane.ts';
import type { ProgressDesk } from './progress-desk.ts';
import type { QuestionDesk } from './question-desk.ts';
import { sessionResult, siteOf, type SessionMethod, type SessionRequest } from './request.ts';

export interface ToolCallParts {
  readonly face: Face;
  readonly desk: QuestionDesk;
  readonly progress: ProgressDesk;
}

/** A session call: the common part, and the request that it came with. */
interface SessionCall extends CallSite {
  readonly request: SessionRequest;
}

const IMMEDIATE_RESPONSE =
  'This call runs as a task. Its result will follow when the work has ended; do not call the tool again for it.';

/** A model reads it: where nobody gave a key it hears that this is the earlier call, and how to ask for another. */
const immediateResponse = ({ task, repeated }: StartedCall): string =>
  repeated === 'guard'
    ? `${IMMEDIATE_RESPONSE} Note: ${guardWords(task.operationId)}.`
    : IMMEDIATE_RESPONSE;

/** `params.task`: an object with an optional integer `ttl` (T15); without Tasks in this revision it is ignored (G1-13). */
function readTaskParam({
  session,
  params,
}: SessionRequest): { readonly ttlMs?: number } | undefined {
  const { task } = params;
  if (session.generation !== '2025-11-25' || task === undefined) return undefined;
  if (!isJsonObject(task)) throw invalidParams('task must be an object');
  const { ttl } = task;
  if (ttl === undefined) return {};
  if (typeof ttl !== 'number' || !Number.isInteger(ttl))
    throw invalidParams('task.ttl must be an integer (milliseconds)');
  return { ttlMs: ttl };
}

function kindOf({ session }: SessionRequest, asTask: boolean): CallerKind {
  if (session.generation !== '2025-11-25') return 'older';
  return asTask ? '2025-task' : '2025-plain';
}

function refusalOf({ tool }: CallSite, reason: RefusalReason): Error {
  if (reason === 'no_task_support') return noTaskSupport(tool);
  return reason === 'task_required' ? taskRequired2025(tool) : refusedByPolicy(tool);
}

function callOf(face: Face, request: SessionRequest): SessionCall {
  const site = siteOf(face, request);
  const { task: _, ...params } = site.params; // between the caller and us
  return { ...site, params, ...readCall(site), request };
}

async function passOn(call: SessionCall): Promise<Reply> {
  call.request.openStream();
  const result = await forward(call, 'tools/call', (question) => askOnLane(call.request, question));
  return resultReply(sessionResult(result));
}

async function bounded({ desk }: ToolCallParts, call: SessionCall): Promise<Reply | undefined> {
  const heard = await startHeard(call, 'plain');
  const { task } = heard;
  call.request.openStream();
  const { session, lane } = call.request;
  const stops = [relayTask(call, heard), desk.attach(task.id, { session, lane })];
  try {
    return markRepeat(await awaitPlain(call, task), heard);
  } finally {
    for (const stop of stops) stop();
  }
}

async function createTask(
  parts: ToolCallParts,
  call: SessionCall,
  ttlMs?: number,
): Promise<Reply | undefined> {
  const { face, progress } = parts;
  const { session } = call.request;
  const started = await start(call, '2025-11-25', ttlMs);
  const { task } = started;
  if (call.signal.reason === 'cancelled') {
    face.handles.abandon(task.id, { stopUpstream: true });
    return undefined;
  }
  session.learn(task.id);
  if (task.phase !== 'ended') progress.expect(task.id, session, call.progressToken);
  const created: JsonObject = codec2025.encodeCreate(task, {
    immediateResponse: immediateResponse(started),
  });
  const reply: Reply = {
    body: { kind: 'result', result: created },
    // A disconnect is no cancel: an unwritten handle stays pending, and the task runs on (decision 1).
    onDelivery: (delivery) => void (delivery === 'written' && face.handles.given(task.id)),
  };
  return markRepeat(reply, started);
}

/** Waits for a job of this caller's; its person is asked on this request's own stream, and its model in the answer. */
async function awaitJobHere(
  { desk }: ToolCallParts,
  request: SessionRequest,
  { site, exchange }: { readonly site: RequestSite; readonly exchange: JobExchange },
): Promise<Reply | undefined> {
  const { session, lane } = request;
  request.openStream();
  const detach = desk.attach(exchange.jobId, { session, lane, takes: isForPerson });
  try {
    const view = await site.face.receiver.view(site.principal, exchange.jobId, false);
    if (view) desk.notice(view.task, view.inputs);
    return await runExchange(site, exchange);
  } finally {
    detach({ keepsAsks: !site.signal.aborted });
  }
}

async function createJob(parts: ToolCallParts, call: SessionCall): Promise<Reply | undefined> {
  const heard = await startHeard(askableAsJob(call), 'job');
  const stop = relayTask(call, heard);
  const exchange = createCallExchange(call, heard);
  const reply = await awaitJobHere(parts, call.request, { site: call, exchange }).finally(stop);
  return markRepeat(reply, heard);
}

async function callHelper(
  parts: ToolCallParts,
  request: SessionRequest,
  helper: JobHelper,
): Promise<Reply | undefined> {
  const site = siteOf(parts.face, request);
  const helped = await help(site, helper);
  if (helped.kind === 'reply') return helped.reply;
  const { exchange } = helped;
  // Before its progress and its questions go anywhere: is it theirs?
  if (!(await site.face.receiver.view(site.principal, exchange.jobId, false)))
    return exchange.gone();
  const stop = relayJob(site, exchange.jobId);
  return awaitJobHere(parts, request, { site, exchange }).finally(stop);
}

/** `tools/call`: everything about the call is decided before anything runs (T2). */
export function createToolCall(parts: ToolCallParts): SessionMethod {
  return async (request) => {
    const { name } = request.params;
    if (parts.face.jobTools !== 'off' && isJobHelper(name)) return callHelper(parts, request, name);
    const asTask = readTaskParam(request);
    const call = callOf(parts.face, request);
    const decision = routeOf(call, kindOf(request, asTask !== undefined));
    switch (decision.kind) {
      case 'refuse':
        throw refusalOf(call, decision.reason);
      case 'forward':
        return passOn(call);
      case 'handle':
        return createTask(parts, call, asTask?.ttlMs);
      case 'job':
        return createJob(parts, call);
      case 'bounded':
      case 'window':
        return bounded(parts, call);
    }
  };
}
