import { mayOn, hasScope } from '../identity/permissions.ts';
import { isIdentified, type Principal } from '../identity/principal.ts';
import type { Sealer } from '../kernel/seal.ts';
import type { TaskView } from '../protocol/codec.ts';
import type { Task } from '../protocol/model.ts';
import type { Access } from '../stores/access.ts';
import type { TaskPosition } from '../stores/tasks.ts';
import { accessOf, type Core } from './core.ts';
import type { Listed, Receiver, TaskFilter } from './receiver.ts';
import { createSnapshots } from './snapshots.ts';

/** Snapshots of task and questions are two reads; this often they are taken again until they fit together. */
const SNAPSHOTS_MAX = 3;

/** The task with its pending questions as of one moment; nothing where it is foreign, unknown or expired. */
export async function readView(
  core: Core,
  access: Access,
  taskId: string,
): Promise<TaskView | undefined> {
  const { store, announcer } = core;
  for (let left = SNAPSHOTS_MAX; ; left -= 1) {
    const task = await store.tasks.get(access, taskId);
    if (!task) return undefined;
    if (task.phase !== 'input_required') return { task: announcer.shown(task), inputs: [] };
    const inputs = await store.inputs.listPending(access, taskId);
    if (inputs.length > 0) return { task: announcer.shown(task), inputs };
    if (left <= 1) return { task: announcer.shown({ ...task, phase: 'working' }), inputs }; // all questions are over
  }
}

export function createView(core: Core): Receiver['view'] {
  const { store, clock, announcer, limits } = core;
  const snapshots = createSnapshots({
    feed: announcer.feed,
    clock,
    now: () => store.now(),
    ageMsMax: limits.snapshotMs,
  });
  const look = (principal: Principal, taskId: string): Promise<TaskView | undefined> =>
    snapshots.through(taskId, () => readView(core, accessOf(principal), taskId));
  return async (principal, taskId, withOutcome) => {
    const access = accessOf(principal);
    const view = snapshots.find(principal, taskId) ?? (await look(principal, taskId));
    if (!view || !mayOn(principal, 'task.read', view.task)) return undefined;
    if (!withOutcome || view.task.phase !== 'ended') return view;
    if (!mayOn(principal, 'task.result', view.task)) return undefined;
    const outcome = await core.store.tasks.outcome(access, taskId);
    return outcome ? { ...view, outcome } : undefined; // the record's time was up between the two reads
  };
}

const ASKING_MAX = 100;

export function createAskingTasks(core: Core): Receiver['asking'] {
  return async (principal) => {
    if (!isIdentified(principal) || !hasScope(principal, 'task.read')) return [];
    const access = accessOf(principal);
    const where = { phase: 'open', withHandle: true, limit: ASKING_MAX } as const;
    const open = await core.store.tasks.list(access, where);
    const asking = open.filter(({ phase }) => phase === 'input_required');
    const views = await Promise.all(asking.map(({ id }) => readView(core, access, id)));
    return views.flatMap((view) => (view && view.inputs.length > 0 ? [view] : []));
  };
}

const CURSOR = 'tasks/list';
const everything: TaskFilter = () => true;
const NO_TASKS: Listed = { kind: 'page', page: { tasks: [] } };

/** Newest first, by keyset; a cursor opens for the principal that it was made for and for nobody else (T14). */
export function createList(core: Core, sealer: Sealer): Receiver['list'] {
  const { store, announcer } = core;
  const seal = (principal: Principal, { id, createdAt }: Task): string =>
    sealer.seal(CURSOR, { owner: principal.key, createdAt, id });
  const open = (principal: Principal, cursor: string): TaskPosition | undefined => {
    const { owner, createdAt, id } = sealer.open(CURSOR, cursor, store.now()) ?? {};
    const fits = owner === principal.key && typeof createdAt === 'number' && typeof id === 'string';
    return fits ? { createdAt, id } : undefined;
  };
  return async (principal, cursor, shows = everything) => {
    if (!hasScope(principal, 'task.list')) return NO_TASKS;
    const after = cursor === undefined ? undefined : open(principal, cursor);
    if (cursor !== undefined && !after) return { kind: 'bad_cursor' };
    const { found, more } = await collect(core, { access: accessOf(principal), after, shows });
    const tasks = found.filter(shows).map(announcer.shown);
    const last = found.at(-1);
    const isCut = more && last !== undefined;
    return { kind: 'page', page: isCut ? { tasks, nextCursor: seal(principal, last) } : { tasks } };
  };
}

/** Rounds of one request that looks for tasks of one kind among many others; then it answers with what it has. */
const LIST_ROUNDS_MAX = 10;

interface Search {
  readonly access: Access;
  readonly after: TaskPosition | undefined;
  readonly shows: TaskFilter;
}

/** Walks down the list until a page is full of what is wanted; `found` has all that was passed on the way. */
async function collect({ store, limits: { pageSize } }: Core, { access, after, shows }: Search) {
  const found: Task[] = [];
  let wanted = 0;
  let more = true;
  for (let rounds = 0; more && wanted < pageSize && rounds < LIST_ROUNDS_MAX; rounds += 1) {
    const last = found.at(-1) ?? after;
    const where = { limit: pageSize + 1, withHandle: true };
    const next = await store.tasks.list(
      access,
      last ? { ...where, after: positionOf(last) } : where,
    );
    more = next.length > pageSize;
    for (const task of next.slice(0, pageSize)) {
      if (wanted === pageSize) return { found, more: true };
      found.push(task);
      if (shows(task)) wanted += 1;
    }
  }
  return { found, more };
}

const positionOf = ({ createdAt, id }: TaskPosition): TaskPosition => ({ createdAt, id });
