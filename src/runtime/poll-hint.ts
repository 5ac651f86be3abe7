import type { Task } from '../protocol/model.ts';

/** The hint never grows beyond this, however old the task (architecture §7). */
const POLL_MS_MAX = 15_000;
/** The hint is this part of the task's age: a task of five minutes is asked for every 15 s. */
const AGE_PER_POLL = 20;

/**
 * How long to wait before asking again, in ms: what the tool says while the task is young, growing with its age in
 * whole seconds, so that all who look at the same moment see the same.
 */
export function pollHintMs(task: Pick<Task, 'createdAt' | 'pollIntervalMs'>, now: number): number {
  const grownMs = Math.floor(Math.max(0, now - task.createdAt) / AGE_PER_POLL / 1000) * 1000;
  return Math.max(task.pollIntervalMs, Math.min(grownMs, POLL_MS_MAX));
}
