import type { Principal } from '../../../identity/principal.ts';
import { isIdentified } from '../../../identity/principal.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { TaskView } from '../../../protocol/codec.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import { codec2025 } from '../../../protocol/select-codec.ts';
import { statusOf } from '../../../protocol/task-machine.ts';
import { RpcFailure } from '../../../runtime/surface.ts';
import { readableBy } from '../client-capabilities.ts';
import type { Face } from '../face.ts';
import { invalidParams, noSuchTask } from '../failures.ts';
import { resultReply, type Reply } from '../reply.ts';
import { readTaskId } from '../task-id.ts';
import type { QuestionDesk } from './question-desk.ts';
import type { SessionMethod, SessionRequest } from './request.ts';
import { awaitEnd } from './result-wait.ts';

export interface TaskMethodParts {
  readonly face: Face;
  readonly desk: QuestionDesk;
}

type Methods = Readonly<
  Record<'tasks/get' | 'tasks/result' | 'tasks/list' | 'tasks/cancel', SessionMethod>
>;

/** Reads a task in this request's name. Whoever names an id that is theirs is taken to know the task from now on. */
async function look(face: Face, request: SessionRequest, withOutcome: boolean): Promise<TaskView> {
  const taskId = readTaskId(request.params);
  const view = await face.receiver.view(request.principal, taskId, withOutcome);
  if (!view) throw noSuchTask();
  request.session.learn(taskId);
  return view;
}

const get =
  ({ face, desk }: TaskMethodParts): SessionMethod =>
  async (request) => {
    const view = await look(face, request, false);
    desk.notice(view.task, view.inputs);
    return resultReply(codec2025.encodeTask(readableBy(request.session.asks, view)));
  };

/** Written, the outcome has reached its owner (decision 4). */
const answerOf = ({ handles }: Face, view: TaskView): Reply => ({
  body: codec2025.encodeResult(view),
  onDelivery: (delivery) => {
    if (delivery === 'written' && view.task.operationId !== undefined)
      handles.delivered(view.task.id);
  },
});

/** Blocks until the end, and carries the task's questions meanwhile (G1-36, T3). */
async function blockUntilEnd(
  parts: TaskMethodParts,
  request: SessionRequest,
  { task, inputs }: TaskView,
): Promise<Reply | undefined> {
  const { face, desk } = parts;
  const { session, lane, principal } = request;
  request.openStream();
  const detach = desk.attach(task.id, { session, lane });
  desk.notice(task, inputs);
  try {
    const ended = await awaitEnd(face.receiver, {
      principal,
      taskId: task.id,
      signal: AbortSignal.any([request.signal, request.gone, face.closing]),
    });
    if (!ended) return undefined;
  } finally {
    detach();
  }
  return answerOf(face, await look(face, request, true));
}

const result =
  (parts: TaskMethodParts): SessionMethod =>
  async (request) => {
    const view = await look(parts.face, request, true);
    return view.task.phase === 'ended'
      ? answerOf(parts.face, view)
      : blockUntilEnd(parts, request, view);
  };

function readCursor({ cursor }: JsonObject): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw invalidParams('cursor must be a string');
}

const list =
  ({ face }: TaskMethodParts): SessionMethod =>
  async ({ principal, params }) => {
    const listed = await face.receiver.list(principal, readCursor(params));
    if (listed.kind === 'bad_cursor')
      throw invalidParams('the cursor is not one of ours, or not yours'); // G1-91
    const { tasks, nextCursor } = listed.page;
    return resultReply(codec2025.encodeList(tasks, nextCursor));
  };

/** G1-66, G1-92. */
function alreadyEnded({ task }: TaskView): RpcFailure {
  const message = `cannot cancel: the task has ended (${statusOf(task, '2025-11-25')})`;
  return new RpcFailure(RPC_CODES.invalidParams, message);
}

const cancel =
  ({ face }: TaskMethodParts): SessionMethod =>
  async ({ principal, params, session }) => {
    const cancelled = await face.receiver.cancel(principal, readTaskId(params), 'at-once');
    switch (cancelled.kind) {
      case 'missing':
        throw noSuchTask();
      case 'already_ended':
        throw alreadyEnded(cancelled.view);
      case 'cancelled':
        return resultReply(codec2025.encodeCancelled(readableBy(session.asks, cancelled.view)));
    }
  };

export function createTaskMethods(parts: TaskMethodParts): Methods {
  return {
    'tasks/get': get(parts),
    'tasks/result': result(parts),
    'tasks/list': list(parts),
    'tasks/cancel': cancel(parts),
  };
}

/** What a session of 2025-11-25 is told about Tasks (G1-01, G1-02); the list only where callers can be told apart. */
export function taskCapabilities(principal: Principal): JsonObject {
  return {
    ...(isIdentified(principal) ? { list: {} } : {}),
    cancel: {},
    requests: { tools: { call: {} } },
  };
}
