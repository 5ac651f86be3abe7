import { objectAt, type JsonObject } from '../../../kernel/json.ts';
import type { TaskView } from '../../../protocol/codec.ts';
import { codec2025, codec2026 } from '../../../protocol/select-codec.ts';
import { readableBy } from '../client-capabilities.ts';
import type { Face } from '../face.ts';
import { extensionRequired, noSuchTask } from '../failures.ts';
import { assertWellFormed, malformedAnswer, readInputResponses } from '../input-responses.ts';
import { resultReply, type Delivery } from '../reply.ts';
import { readTaskId } from '../task-id.ts';
import type { ModernMethod, ModernRequest } from './request.ts';
import { emittableView } from './results.ts';

type Methods = Readonly<Record<'tasks/get' | 'tasks/update' | 'tasks/cancel', ModernMethod>>;

const withResultType = (result: JsonObject): JsonObject => ({ ...result, resultType: 'complete' });

/**
 * A caller that declares the tasks of 2025-11-25 alone is no declarer (G2-175), but goes on reading and cancelling what
 * it created under them, in their shape (G2-176, T37). For anything else it hears what everybody without the extension
 * hears, so that it learns nothing about ids.
 */
async function assertDeclared(
  face: Face,
  { method, params, principal, envelope }: ModernRequest,
): Promise<'2026' | '2025'> {
  if (envelope.tasks) return '2026';
  if (objectAt(envelope.capabilities, 'tasks') && method !== 'tasks/update') {
    const view = await face.receiver.view(principal, readTaskId(params), false);
    if (view?.task.origin === '2025-11-25') return '2025';
  }
  throw extensionRequired(method);
}

async function look(face: Face, { principal, params }: ModernRequest): Promise<TaskView> {
  const view = await face.receiver.view(principal, readTaskId(params), true);
  if (!view) throw noSuchTask();
  return emittableView(view);
}

/** In this revision the outcome comes with the status: written, it has reached its owner (decision 4). */
const deliveryOf =
  ({ handles }: Face, { task, outcome }: TaskView) =>
  (delivery: Delivery): void => {
    const isOutcome = outcome !== undefined && task.operationId !== undefined;
    if (delivery === 'written' && isOutcome) handles.delivered(task.id);
  };

const get =
  (face: Face): ModernMethod =>
  async (request) => {
    const shape = await assertDeclared(face, request);
    const view = readableBy(request.envelope.asks, await look(face, request));
    if (shape === '2025') return resultReply(withResultType(codec2025.encodeTask(view)));
    return { ...resultReply(codec2026.encodeTask(view)), onDelivery: deliveryOf(face, view) };
  };

/** Keys that are not open are ignored (G2-54); a live key with a value that cannot be its answer is refused (T28). */
const update =
  (face: Face): ModernMethod =>
  async (request) => {
    await assertDeclared(face, request);
    const { principal, params } = request;
    const taskId = readTaskId(params);
    const responses = readInputResponses(params['inputResponses']);
    if (responses.malformed.length > 0) {
      const { inputs } = await look(face, request);
      assertWellFormed(
        responses,
        inputs.map(({ key }) => key),
      );
    }
    const answered = await face.receiver.answer(principal, taskId, responses.answers);
    if (answered.kind === 'missing') throw noSuchTask();
    if (answered.kind === 'malformed') throw malformedAnswer(answered.key, answered.problem);
    return resultReply(codec2026.encodeAck());
  };

/** Acknowledged whatever state the task is in (G2-85, T29). */
const cancel =
  (face: Face): ModernMethod =>
  async (request) => {
    const shape = await assertDeclared(face, request);
    const { principal, params, envelope } = request;
    const how = shape === '2025' ? 'at-once' : 'cooperative';
    const cancelled = await face.receiver.cancel(principal, readTaskId(params), how);
    if (cancelled.kind === 'missing') throw noSuchTask();
    if (shape === '2026') return resultReply(codec2026.encodeAck());
    return resultReply(
      withResultType(codec2025.encodeCancelled(readableBy(envelope.asks, cancelled.view))),
    );
  };

export function createTaskMethods(face: Face): Methods {
  return { 'tasks/get': get(face), 'tasks/update': update(face), 'tasks/cancel': cancel(face) };
}
