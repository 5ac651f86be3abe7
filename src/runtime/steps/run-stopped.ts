import type { StopReason } from '../job.ts';

const WORDS: Readonly<Record<StopReason, string>> = {
  cancelled: 'the call was cancelled',
  abandoned: 'nobody waits for the call any more',
  run_limit: 'the call has used up its run limit',
  lease_lost: 'another process has taken the call over',
  shutdown: 'this process is shutting down',
};

/**
 * Why a run is told to stop, as its handler sees it: the reason of `signal`, and what is thrown where something new
 * is begun all the same. Named like the error of an aborted request, so that handlers tell it by the usual name.
 */
export class RunStopped extends Error {
  override readonly name = 'AbortError';
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(WORDS[reason]);
    this.reason = reason;
  }
}
