import { codec2025, codec2026 } from '../../../protocol/select-codec.ts';
import type { ResultReply } from '../../../protocol/codec.ts';
import type { Task } from '../../../protocol/model.ts';
import { callCancelled, errorOfThrown, noSuchTask } from '../failures.ts';
import type { Reply } from '../reply.ts';
import type { CallSite } from './call-site.ts';

async function bodyOf(site: CallSite, task: Task): Promise<ResultReply> {
  const { face, principal, generation } = site;
  const view = await face.receiver.view(principal, task.id, true);
  const outcome = view?.outcome;
  if (outcome === undefined) throw noSuchTask();
  if (outcome.kind === 'cancelled')
    return { kind: 'error', error: errorOfThrown(face, callCancelled(task)) };
  return (generation === '2026-07-28' ? codec2026 : codec2025).encodeInline(outcome);
}

/** The outcome of an ended call as the plain answer of its request; recorded as delivered once it was written. */
export async function inlineAnswer(site: CallSite, task: Task): Promise<Reply> {
  const { handles } = site.face;
  return {
    body: await bodyOf(site, task),
    onDelivery: (delivery) => {
      if (delivery !== 'written') return;
      handles.inline(task.id);
      if (task.operationId !== undefined) handles.delivered(task.id);
    },
  };
}
