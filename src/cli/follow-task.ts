import type { TaskDocument, Versioned } from '../admin/documents.ts';
import type { ProgressDocument, WatchEnd } from '../admin/watch-route.ts';
import { backoffCeilingMs } from '../kernel/backoff.ts';
import { sleep } from '../kernel/clock.ts';
import type { Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import { segment } from './admin-client.ts';
import type { AdminClient } from './admin-client.ts';
import { holdOpen } from './hold-open.ts';
import type { ServerEvent } from './server-events.ts';

/** What a follower gets to see. */
export type WatchEvent =
  | { readonly kind: 'task'; readonly task: Versioned<TaskDocument> }
  | { readonly kind: 'progress'; readonly progress: ProgressDocument }
  | { readonly kind: 'end'; readonly end: WatchEnd }
  /** The gateway went away and is looked for again; the task is in its store. */
  | { readonly kind: 'lost' };

export interface FollowTask {
  /** Looks for the gateway anew: after a restart it may listen elsewhere. */
  readonly connect: () => AdminClient;
  readonly taskId: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onEvent: (event: WatchEvent) => void;
}

const RETRY = { firstMs: 200, maxMs: 2_000, factor: 2 };
/** How long a gateway may be away, from when it was lost. */
const AWAY_MS_MAX = 60_000;

/**
 * Follows a task until it ends, its record expires, or `signal` is aborted. Only looks: it never asks for the call to
 * be made again. A gateway that goes away in between is waited for; one that is not there to begin with is an error.
 */
export async function followTask(options: FollowTask): Promise<void> {
  const release = holdOpen();
  try {
    await followThroughRestarts(options);
  } finally {
    release();
  }
}

async function followThroughRestarts(options: FollowTask): Promise<void> {
  const { clock, signal } = options;
  let lost: { readonly at: number; failures: number } | undefined;
  while (!signal.aborted) {
    const heard = await listenOnce(options, lost === undefined);
    if (heard.kind === 'over' || signal.aborted) return;
    if (heard.sawSomething || lost === undefined) {
      lost = { at: clock.monotonic(), failures: 0 };
      options.onEvent({ kind: 'lost' });
    }
    if (clock.monotonic() - lost.at > AWAY_MS_MAX) throw heard.error;
    await sleep(clock, backoffCeilingMs(RETRY, lost.failures), signal);
    lost.failures += 1;
  }
}

type Heard =
  | { readonly kind: 'over' }
  | { readonly kind: 'broken'; readonly sawSomething: boolean; readonly error: LongcallError };

/** One connection, from the first event to the last. */
async function listenOnce(options: FollowTask, isFirst: boolean): Promise<Heard> {
  let sawSomething = false;
  try {
    const path = `/tasks/${segment(options.taskId)}/watch`;
    const events = await options.connect().events(path, options.signal);
    for await (const event of events) {
      sawSomething = true;
      if (report(event, options.onEvent) === 'over') return { kind: 'over' };
    }
    return { kind: 'broken', sawSomething, error: goneAway(undefined) };
  } catch (error) {
    const isRefusal = error instanceof LongcallError && !error.retryable;
    if (isRefusal || (isFirst && !sawSomething && !options.signal.aborted)) throw error;
    return { kind: 'broken', sawSomething, error: goneAway(error) };
  }
}

const goneAway = (cause: unknown): LongcallError =>
  cause instanceof LongcallError
    ? cause
    : new LongcallError('LONGCALL_ADMIN_UNREACHABLE', 'the gateway went away while watching', {
        cause,
        hint: 'start the gateway again and watch again: the task is in its store',
      });

function report({ event, data }: ServerEvent, onEvent: FollowTask['onEvent']): 'more' | 'over' {
  if (event === 'task')
    onEvent({ kind: 'task', task: JSON.parse(data) as Versioned<TaskDocument> });
  if (event === 'progress')
    onEvent({ kind: 'progress', progress: JSON.parse(data) as ProgressDocument });
  if (event !== 'end') return 'more';
  onEvent({ kind: 'end', end: JSON.parse(data) as WatchEnd });
  return 'over';
}
