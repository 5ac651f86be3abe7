import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import { codec2025 } from '../../../protocol/select-codec.ts';
import { decideCall, type CallerKind, type RefusalReason } from '../../../runtime/modes.ts';
import { awaitPlain } from '../call/bounded-call.ts';
import { readCall, start, startHeard, type CallSite } from '../call/call-site.ts';
import { forward } from '../call/forward.ts';
import { relayTask } from '../call/relay.ts';
import type { Face } from '../face.ts';
import { invalidParams, noTaskSupport, refusedByPolicy, taskRequired2025 } from '../failures.ts';
import { resultReply, type Reply } from '../reply.ts';
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
    return await awaitPlain(call, task);
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
  const task = await start(call, '2025-11-25', ttlMs);
  if (call.signal.reason === 'cancelled') {
    face.handles.abandon(task.id, { stopUpstream: true });
    return undefined;
  }
  session.learn(task.id);
  progress.expect(task.id, session, call.progressToken);
  const created: JsonObject = codec2025.encodeCreate(task, {
    immediateResponse: IMMEDIATE_RESPONSE,
  });
  return {
    body: { kind: 'result', result: created },
    // A disconnect is no cancel: an unwritten handle stays pending, and the task runs on (decision 1).
    onDelivery: (delivery) => void (delivery === 'written' && face.handles.given(task.id)),
  };
}

/** `tools/call`: everything about the call is decided before anything runs (T2). */
export function createToolCall(parts: ToolCallParts): SessionMethod {
  return async (request) => {
    const asTask = readTaskParam(request);
    const call = callOf(parts.face, request);
    const decision = decideCall(call.tool.mode, kindOf(request, asTask !== undefined));
    switch (decision.kind) {
      case 'refuse':
        throw refusalOf(call, decision.reason);
      case 'forward':
        return passOn(call);
      case 'handle':
        return createTask(parts, call, asTask?.ttlMs);
      case 'bounded':
      case 'window':
        return bounded(parts, call);
    }
  };
}
