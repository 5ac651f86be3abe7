import { sleep, type Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import type { StopReason } from './job.ts';

/** Tells a run to stop. The first reason counts: it is what the handler has seen. */
export function stop(stopper: AbortController, reason: StopReason): void {
  if (!stopper.signal.aborted) stopper.abort(reason);
}

/** Why a run was told to stop, if it was. */
export const stopReasonOf = (signal: AbortSignal): StopReason | undefined =>
  signal.aborted ? (signal.reason as StopReason) : undefined;

/** Resolves when a run that was told to stop has had its time to do so. */
export function graceOver(clock: Clock, graceMs: number, stopped: AbortSignal): Promise<void> {
  const over = createDeferred<void>();
  const onStop = (): void => void sleep(clock, graceMs).then(() => over.resolve());
  if (stopped.aborted) onStop();
  else stopped.addEventListener('abort', onStop, { once: true });
  return over.promise;
}
