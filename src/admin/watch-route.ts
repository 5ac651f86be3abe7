import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { SSEStreamingApi } from 'hono/streaming';
import { LongcallError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { safeText } from '../kernel/text.ts';
import type { TaskEvent } from '../runtime/feed.ts';
import { createBell } from './bell.ts';
import type { Bell } from './bell.ts';
import { versioned } from './documents.ts';
import type { AdminOptions } from './options.ts';
import { readTaskDocument, taskOf } from './task-reads.ts';

/** The feed is of one process and promises nothing, so the store is asked at least this often. */
const LOOK_MS = 2_000;
/** Fewer than the listener has connections, so that watches never keep out who wants to stop something. */
const WATCHERS_MAX = 48;

/** How far a run says it is. Its words are the peer's: shown, never interpreted. */
export interface ProgressDocument {
  readonly progress: number | null;
  readonly total: number | null;
  readonly message: string | null;
}

/** Why a stream of states is over. `expired`: the record is gone. */
export interface WatchEnd {
  readonly reason: 'ended' | 'expired';
}

const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const progressDocument = (params: JsonObject): ProgressDocument => ({
  progress: numberOrNull(params['progress']),
  total: numberOrNull(params['total']),
  message: typeof params['message'] === 'string' ? safeText(params['message']) : null,
});

/**
 * `GET /:id/watch`, server-sent events: `task` with the state each time it has changed (its `id` is the revision),
 * `progress` as it comes, `end` when there is nothing more to come. Leaving early changes nothing.
 */
export function createWatchRoute(options: AdminOptions): Hono {
  const routes = new Hono();
  let watchers = 0;
  routes.get('/:id/watch', async (context) => {
    const { id } = await taskOf(options.store, context.req.param('id'));
    if (watchers >= WATCHERS_MAX)
      throw new LongcallError('LONGCALL_CAPACITY', `${WATCHERS_MAX} watches are open already`);
    return streamSSE(context, async (stream) => {
      watchers += 1;
      try {
        await follow(stream, options, id);
      } catch (error) {
        options.logger.warn('admin.watch_failed', { error: messageOf(error) });
      } finally {
        watchers -= 1;
      }
    });
  });
  return routes;
}

async function follow(stream: SSEStreamingApi, options: AdminOptions, taskId: string) {
  const bell = createBell(options.clock);
  const hearing = hear(bell);
  const stop = options.runtime.feed.watch(taskId, hearing.listener);
  stream.onAbort(() => bell.ring());
  try {
    await sendStates(stream, options, { taskId, bell, takeProgress: hearing.take });
  } finally {
    stop();
  }
}

/** Keeps the newest progress only: a slow reader gets fewer steps, never old ones. */
function hear(bell: Bell) {
  let progress: ProgressDocument | undefined;
  return {
    listener(event: TaskEvent): void {
      if (event.kind === 'progress') progress = progressDocument(event.params);
      bell.ring();
    },
    take(): ProgressDocument | undefined {
      const taken = progress;
      progress = undefined;
      return taken;
    },
  };
}

interface Following {
  readonly taskId: string;
  readonly bell: Bell;
  readonly takeProgress: () => ProgressDocument | undefined;
}

async function sendStates(
  stream: SSEStreamingApi,
  { store }: AdminOptions,
  following: Following,
): Promise<void> {
  let sent = '';
  while (!stream.aborted) {
    const progress = following.takeProgress();
    const task = await store.tasks.get('system', following.taskId);
    if (task === undefined) return send(stream, 'end', { reason: 'expired' });
    const document = await readTaskDocument(store, task);
    const state = JSON.stringify(versioned(document));
    if (state !== sent)
      await stream.writeSSE({ event: 'task', id: `${task.revision}`, data: state });
    sent = state;
    if (task.phase === 'ended') return send(stream, 'end', { reason: 'ended' });
    if (progress !== undefined) await send(stream, 'progress', progress);
    if ((await following.bell.wait(LOOK_MS)) === 'elapsed') await stream.write(': still here\n\n');
  }
}

const send = (stream: SSEStreamingApi, event: string, data: WatchEnd | ProgressDocument) =>
  stream.writeSSE({ event, data: JSON.stringify(versioned(data)) });
