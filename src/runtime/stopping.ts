import { mayOn } from '../identity/permissions.ts';
import type { Principal } from '../identity/principal.ts';
import { crashPoint } from '../kernel/crash-point.ts';
import type { Task } from '../protocol/model.ts';
import type { Access } from '../stores/access.ts';
import type { SettleObstacle } from '../stores/tasks.ts';
import { accessOf, type Core } from './core.ts';
import { CANCELLED } from './outcomes.ts';
import { readView } from './reading.ts';
import type { Cancelled, Receiver } from './receiver.ts';
import type { Settlement } from './settler.ts';

type How = Parameters<Receiver['cancel']>[2];

const cancelOf = (
  taskId: string,
  reason: string,
  unless: readonly SettleObstacle[],
): Settlement => ({
  taskId,
  outcome: CANCELLED,
  callEnd: 'cancelled',
  reason,
  unless,
});

export function createCancel(core: Core): Receiver['cancel'] {
  return async (principal: Principal, taskId, how) => {
    const access = accessOf(principal);
    const task = await core.store.tasks.get(access, taskId);
    if (!task || !mayOn(principal, 'task.cancel', task)) return { kind: 'missing' };
    return cancelTask(core, access, { taskId, how });
  };
}

/** An operator cancels in the way of the task's own generation. Who asked, and why, the caller has recorded. */
export function createCancelAsOperator(core: Core): Receiver['cancelAsOperator'] {
  return async (taskId) => {
    const task = await core.store.tasks.get('system', taskId);
    const how = task?.origin === '2025-11-25' ? 'at-once' : 'cooperative';
    return task ? cancelTask(core, 'system', { taskId, how }) : { kind: 'missing' };
  };
}

interface CancelTask {
  readonly taskId: string;
  readonly how: How;
}

async function cancelTask(
  core: Core,
  access: Access,
  { taskId, how }: CancelTask,
): Promise<Cancelled> {
  const marked = await core.store.tasks.requestCancel(access, taskId);
  if (!marked) return { kind: 'missing' };
  crashPoint('after-cancel-request');
  if (marked.phase === 'ended')
    return answerOf(core, access, { task: marked, kind: 'already_ended' });
  return how === 'at-once'
    ? cancelAtOnce(core, access, marked)
    : cancelInTime(core, access, marked);
}

/** 2025-11-25: the record is `cancelled` before the answer; the run hears of it after (G1-68). */
async function cancelAtOnce(core: Core, access: Access, task: Task): Promise<Cancelled> {
  const settled = await core.settler.settle(cancelOf(task.id, 'cancelled', []));
  core.runs.of(task.id)?.stop('cancelled');
  if (settled.kind === 'missing') return settled;
  const kind = settled.kind === 'settled' ? 'cancelled' : 'already_ended';
  return answerOf(core, access, { task: settled.task, kind });
}

/**
 * 2026-07-28: the run is asked to stop and settles itself, at the latest at the end of its grace (G2-86). What runs
 * nowhere and was never sent has nobody to ask: it ends now. What was sent by another process, that process ends: its
 * next look reads the request.
 */
async function cancelInTime(core: Core, access: Access, task: Task): Promise<Cancelled> {
  const run = core.runs.of(task.id);
  if (run) {
    run.stop('cancelled');
    return answerOf(core, access, { task, kind: 'cancelled' });
  }
  const unless: readonly SettleObstacle[] = (await sleeps(core, task)) ? [] : ['dispatched'];
  const settled = await core.settler.settle(cancelOf(task.id, 'cancelled', unless));
  core.engine.wake(); // what was parked is queued by the request, and ends as its next attempt
  core.runs.of(task.id)?.stop('cancelled'); // a run that began meanwhile
  if (settled.kind === 'missing') return settled;
  const kind = settled.kind === 'late' ? 'already_ended' : 'cancelled';
  return answerOf(core, access, { task: settled.task, kind });
}

/** A journalled call that runs nowhere has nothing under way, whatever it has sent before. */
async function sleeps({ store }: Core, { id, journalled }: Task): Promise<boolean> {
  if (!journalled) return false;
  const attempts = await store.attempts.listOf(id);
  return attempts.every(({ state }) => state !== 'running');
}

interface CancelAnswer {
  readonly task: Task;
  readonly kind: Exclude<Cancelled['kind'], 'missing'>;
}

async function answerOf(
  core: Core,
  access: Access,
  { task, kind }: CancelAnswer,
): Promise<Cancelled> {
  if (task.phase !== 'input_required')
    return { kind, view: { task: core.announcer.shown(task), inputs: [] } };
  const view = await readView(core, access, task.id);
  return view ? { kind, view } : { kind: 'missing' };
}

/** Decides inside one settlement what becomes of a call whose caller went away, so that no third state exists (T27). */
export function createAbandon(core: Core): Receiver['abandon'] {
  const { store, settler, runs, callers } = core;
  return async (taskId, { stopUpstream, keepHandle = false }) => {
    if (!callers.leave(taskId)) return; // somebody else waits on it
    const task = await store.tasks.get('system', taskId);
    if (!task || task.phase === 'ended') return;
    const settled = await settler.settle(cancelOf(taskId, 'abandoned', ['given', 'dispatched']));
    if (settled.kind === 'settled') runs.of(taskId)?.stop('abandoned');
    if (settled.kind !== 'kept' || settled.because === 'given') return;
    if (!keepHandle) await store.tasks.setHandle(taskId, 'inline');
    if (stopUpstream) runs.of(taskId)?.stop('abandoned');
  };
}
