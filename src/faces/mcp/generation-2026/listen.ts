import type { Principal } from '../../../identity/principal.ts';
import type { Timer } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { messageOf } from '../../../kernel/logger.ts';
import { SUBSCRIPTION_META } from '../../../protocol/names.ts';
import { withMeta } from '../../../protocol/result-meta.ts';
import type { SurfaceEvent } from '../../../runtime/surface.ts';
import type { Face } from '../face.ts';
import { atCapacity } from '../failures.ts';
import { assertScope } from '../scopes.ts';
import { LIST_FILTERS, readFilter, serveable, shownFilter, type Filter } from './listen-filter.ts';
import type { ModernRequest } from './request.ts';
import { finishResult } from './results.ts';
import { followTask, type TaskFollower } from './task-follower.ts';

const METHOD = 'subscriptions/listen';
const LISTENS_MAX = 1024;
const LISTENS_PER_PRINCIPAL_MAX = 64;
const RETRY_MS = 10_000;

/** Where the messages of one listen go. */
export interface ListenSink {
  notify(method: string, params: JsonObject): void;
  /** The end that we chose: the listen's result, then nothing (G2-105, T35). */
  finish(result: JsonObject): void;
}

/** A listen that may begin: everything that could refuse it has been asked. */
export interface AcceptedListen {
  /** Acknowledges, and goes on until one side ends it. The signal says that the caller left. */
  run(sink: ListenSink): void;
  /** The caller left before it began. */
  discard(): void;
}

export interface Listens {
  /** Rejects where the listen is refused. Nothing has been sent then. */
  accept(request: ModernRequest): Promise<AcceptedListen>;
}

interface Watched {
  readonly uri: string;
  readonly stop: () => void;
}

function concerns(filter: Filter, principal: Principal, event: SurfaceEvent): boolean {
  if (event.kind === 'list_changed')
    return filter.lists.some((member) => LIST_FILTERS[member] === event.list);
  if (event.kind === 'log') return false; // G2-104
  return event.principalKey === principal.key && filter.resourceUris.includes(event.uri);
}

const noticeOf = (event: SurfaceEvent): readonly [method: string, params: JsonObject] =>
  event.kind === 'list_changed'
    ? [`notifications/${event.list}/list_changed`, {}]
    : [
        'notifications/resources/updated',
        { ...event.params, ...('uri' in event ? { uri: event.uri } : {}) },
      ];

/** The resources that an upstream lets this principal watch; the others are left out of what is accepted. */
async function watchResources(
  face: Face,
  principal: Principal,
  uris: readonly string[],
): Promise<readonly Watched[]> {
  const tried = uris.map(async (uri): Promise<readonly Watched[]> => {
    try {
      return [{ uri, stop: await face.resources.watch(principal, uri) }];
    } catch (error) {
      face.logger.debug('face.watch_refused', { problem: messageOf(error) });
      return [];
    }
  });
  return (await Promise.all(tried)).flat();
}

/** The tasks that this principal may read. An unknown or foreign id is left out in silence (T36). */
async function readableTasks(
  face: Face,
  principal: Principal,
  ids: readonly string[],
): Promise<readonly string[]> {
  const views = await Promise.all(ids.map((id) => face.receiver.view(principal, id, false)));
  return ids.filter((_, index) => views[index] !== undefined);
}

export function createListens(face: Face): Listens {
  const open = new Map<object, string>();
  const assertRoom = ({ key }: Principal): void => {
    const own = Array.from(open.values()).filter((owner) => owner === key).length;
    if (open.size >= LISTENS_MAX || own >= LISTENS_PER_PRINCIPAL_MAX)
      throw atCapacity('listens', RETRY_MS);
  };
  return {
    async accept(request) {
      const { principal, params, envelope } = request;
      const wanted = readFilter(params, envelope);
      if (wanted.taskIds.length > 0) assertScope(principal, 'tasks/get');
      assertRoom(principal);
      const token = {};
      open.set(token, principal.key);
      const filter = serveable(wanted, face.surface.info().capabilities);
      const watched = await watchResources(face, principal, filter.resourceUris);
      const release = (): void => {
        open.delete(token);
        for (const { stop } of watched) stop();
      };
      try {
        const accepted: Filter = {
          ...filter,
          resourceUris: watched.map(({ uri }) => uri),
          taskIds: await readableTasks(face, principal, filter.taskIds),
        };
        return {
          run: (sink) => runListen({ face, request, filter: accepted, sink, release }),
          discard: release,
        };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

interface Running {
  readonly face: Face;
  readonly request: ModernRequest;
  readonly filter: Filter;
  readonly sink: ListenSink;
  readonly release: () => void;
}

/** Every message names the listen that it belongs to (G2-102). */
function runListen({ face, request, filter, sink, release }: Running): void {
  const { id, principal, envelope, signal } = request;
  const subscription = { [SUBSCRIPTION_META]: id };
  const send = (method: string, params: JsonObject): void =>
    sink.notify(method, withMeta(params, subscription));
  const followers = new Set<TaskFollower>();
  const onlyTasks = filter.lists.length === 0 && filter.resourceUris.length === 0;
  let over = false;

  const stop = (): void => {
    if (over) return;
    over = true;
    expiry?.cancel();
    stopEvents();
    for (const follower of followers) follower.stop();
    face.closing.removeEventListener('abort', finish);
    signal.removeEventListener('abort', stop);
    release();
  };
  const finish = (): void => {
    if (over) return;
    stop();
    sink.finish(finishResult(face, METHOD, { _meta: subscription }));
  };
  const stopEvents = face.surface.onEvent((event) => {
    if (concerns(filter, principal, event)) send(...noticeOf(event));
  });
  const expiry = expiryTimer(face, principal, finish);
  face.closing.addEventListener('abort', finish, { once: true });
  signal.addEventListener('abort', stop, { once: true });
  const follow = (taskId: string): TaskFollower => {
    const follower = followTask({
      face,
      principal,
      asks: envelope.asks,
      taskId,
      send,
      onEnd: () => {
        followers.delete(follower);
        if (onlyTasks && followers.size === 0) finish();
      },
    });
    followers.add(follower);
    return follower;
  };

  const following = filter.taskIds.map(follow);
  send('notifications/subscriptions/acknowledged', { notifications: shownFilter(filter) }); // G2-101: first
  for (const follower of following) follower.begin();
  if (signal.aborted) stop();
  else if (face.closing.aborted || (onlyTasks && following.length === 0)) finish();
}

/** A listen ends with the credential that it was opened with (T36). */
function expiryTimer(
  { clock }: Face,
  { expiresAt }: Principal,
  onExpiry: () => void,
): Timer | undefined {
  return expiresAt === undefined ? undefined : clock.after(expiresAt - clock.now(), onExpiry);
}
