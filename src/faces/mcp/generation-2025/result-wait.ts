import type { Principal } from '../../../identity/principal.ts';
import type { Receiver } from '../../../runtime/receiver.ts';

/** How long one wait lasts before the record is looked at again: an event may be lost, the store is the truth. */
const LOOK_AGAIN_MS = 60_000;

export interface EndWait {
  readonly principal: Principal;
  readonly taskId: string;
  readonly signal: AbortSignal;
}

/** Waits until the task has ended or its record is gone; false: the wait was aborted. */
export async function awaitEnd(receiver: Receiver, wait: EndWait): Promise<boolean> {
  const { principal, taskId, signal } = wait;
  const options = { forMs: LOOK_AGAIN_MS, signal, untilAsked: false };
  const waited = await receiver.wait(principal, taskId, options);
  if (waited === 'aborted' || signal.aborted) return false;
  if (waited === 'ended') return true;
  const view = await receiver.view(principal, taskId, false);
  return view === undefined || view.task.phase === 'ended' ? true : awaitEnd(receiver, wait);
}
