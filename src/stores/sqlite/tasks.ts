import type { TaskStore } from '../tasks.ts';
import { createTask } from './creating.ts';
import { pageLimit, roundLimit } from './limits.ts';
import { createOpenCounts } from './open-counts.ts';
import type { Session } from './session.ts';
import { settleTask, taskEvent } from './settlement.ts';
import { createSweeping } from './sweeping.ts';
import { createTaskLists } from './task-lists.ts';
import { actorOf, isVisible } from './visibility.ts';
import { wakeToStop } from './waking.ts';
import type { Access } from '../access.ts';
import type { Task } from '../../protocol/model.ts';

export function createTaskStore({ commit, db, tables }: Session): TaskStore {
  const { tasks, attempts, inputs, events } = tables;
  const lists = createTaskLists(db);
  const counts = createOpenCounts(db);
  const sweeping = createSweeping(db, events);

  const findVisible = (access: Access, now: number, taskId: string): Task | undefined => {
    const task = tasks.find(taskId);
    return task && isVisible(task, access, now) ? task : undefined;
  };

  return {
    create: (params) => commit.write((now) => createTask({ tables, counts }, now, params)),
    get: (access, taskId) => commit.read((now) => findVisible(access, now, taskId)),
    outcome: (access, taskId) =>
      commit.read((now) => findVisible(access, now, taskId) && tasks.findOutcome(taskId)),
    request: (taskId) =>
      commit.read((now) => findVisible('system', now, taskId) && tasks.findRequest(taskId)),
    list: (access, params) =>
      commit.read((now) => {
        return lists.page(access, now, { ...params, limit: pageLimit(params.limit) });
      }),
    settle: (params) => commit.write((now) => settleTask(tables, now, params)),
    setMessage: (fence, message) =>
      commit.write((now) =>
        attempts.held(fence) ? tasks.setMessage(now, fence.taskId, message) : undefined,
      ),
    setHandle: (taskId, handle) =>
      commit.writeSoon((now) => {
        const task = findVisible('system', now, taskId);
        const moved = task && tasks.setHandle(taskId, handle);
        if (moved?.handle === 'given') {
          events.append(now, taskEvent('task.handle_given', { task: moved }));
        }
        return moved ?? task;
      }),
    requestCancel: (access, taskId) =>
      commit.write((now) => {
        const task = findVisible(access, now, taskId);
        const marked = task && tasks.requestCancel(now, taskId);
        if (marked) {
          const actor = actorOf(access);
          events.append(now, taskEvent('task.cancel_requested', { task: marked, actor }));
          wakeToStop(tables, now, taskId);
        }
        return marked ?? task;
      }),
    sweepExpired: (limit) =>
      commit.write((now) => {
        attempts.pruneTurns();
        return sweeping.sweep(now, roundLimit(limit));
      }),
    markDelivered: (taskId) =>
      commit.writeSoon((now) => {
        if (!tables.repeats.markDelivered(now, taskId)) return;
        const task = tasks.find(taskId);
        if (task) events.append(now, taskEvent('task.delivered', { task }));
      }),
    keptBytes: (of) => commit.read(() => counts.kept(of)),
    listOverdue: (limit) => commit.read((now) => lists.overdueIds(now, roundLimit(limit))),
    counts: () =>
      commit.read((now) => {
        const inputRequired = inputs.countAsking();
        return {
          working: counts.total() - inputRequired,
          inputRequired,
          ended: sweeping.countEnded(now),
        };
      }),
  };
}
