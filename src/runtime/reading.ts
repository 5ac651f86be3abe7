import { mayOn, hasScope } from '../identity/permissions.ts';
import type { Principal } from '../identity/principal.ts';
import type { Sealer } from '../kernel/seal.ts';
import type { TaskView } from '../protocol/codec.ts';
import type { Task } from '../protocol/model.ts';
import type { Access } from '../stores/access.ts';
import type { TaskPosition } from '../stores/tasks.ts';
import { accessOf, type Core } from './core.ts';
import type { Listed, Receiver } from './receiver.ts';

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
  return async (principal, taskId, withOutcome) => {
    const access = accessOf(principal);
    const view = await readView(core, access, taskId);
    if (!view || !mayOn(principal, 'task.read', view.task)) return undefined;
    if (!withOutcome || view.task.phase !== 'ended') return view;
    if (!mayOn(principal, 'task.result', view.task)) return undefined;
    const outcome = await core.store.tasks.outcome(access, taskId);
    return outcome ? { ...view, outcome } : undefined; // the record's time was up between the two reads
  };
}

const CURSOR = 'tasks/list';
const NO_TASKS: Listed = { kind: 'page', page: { tasks: [] } };

/** Newest first, by keyset; a cursor opens for the principal that it was made for and for nobody else (T14). */
export function createList(core: Core, sealer: Sealer): Receiver['list'] {
  const { store, limits, announcer } = core;
  const seal = (principal: Principal, { id, createdAt }: Task): string =>
    sealer.seal(CURSOR, { owner: principal.key, createdAt, id });
  const open = (principal: Principal, cursor: string): TaskPosition | undefined => {
    const { owner, createdAt, id } = sealer.open(CURSOR, cursor, store.now()) ?? {};
    const fits = owner === principal.key && typeof createdAt === 'number' && typeof id === 'string';
    return fits ? { createdAt, id } : undefined;
  };
  return async (principal, cursor) => {
    if (!hasScope(principal, 'task.list')) return NO_TASKS;
    const after = cursor === undefined ? undefined : open(principal, cursor);
    if (cursor !== undefined && !after) return { kind: 'bad_cursor' };
    const found = await store.tasks.list(accessOf(principal), {
      limit: limits.pageSize + 1,
      withHandle: true,
      ...(after ? { after } : {}),
    });
    const tasks = found.slice(0, limits.pageSize).map(announcer.shown);
    const last = tasks.at(-1);
    const more = found.length > limits.pageSize && last !== undefined;
    return { kind: 'page', page: more ? { tasks, nextCursor: seal(principal, last) } : { tasks } };
  };
}
