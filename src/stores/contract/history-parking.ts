import { expect } from 'vitest';
import { freshAttemptId } from './given.ts';
import { currentAttempt, isAsking, wakeAttempt } from './history-model.ts';
import { fenceFor, holds, onTask } from './history-taking.ts';
import type { TakeStep } from './history-taking.ts';

/** What an attempt sleeps on: answers, a time, or both. */
const WAITS = [
  { onAnswers: true, inMs: undefined },
  { onAnswers: true, inMs: 300 },
  { onAnswers: true, inMs: undefined },
  { onAnswers: false, inMs: 60 },
  { onAnswers: false, inMs: 0 },
] as const;

export const park = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const { onAnswers, inMs } = WAITS[step.pick % WAITS.length] ?? WAITS[0];
  const at = inMs === undefined ? undefined : now + inMs;
  const nextAttemptId = freshAttemptId();
  const wakeUp = { nextAttemptId, onAnswers, ...(at === undefined ? {} : { at }) };
  const allowed = holds(task, step);
  expect(await scene.store.attempts.park(fenceFor(task, step), wakeUp)).toBe(allowed);
  if (!allowed) return;
  const { number, epoch } = currentAttempt(task);
  currentAttempt(task).state = 'ended';
  const next = { id: nextAttemptId, number: number + 1, epoch, dispatched: false };
  const due = (onAnswers && !isAsking(task)) || inMs === 0 || task.cancelRequested;
  task.attempts.push(
    due ? { ...next, state: 'queued' } : { ...next, state: 'parked', wakeUp: { onAnswers, at } },
  );
});

export const wakeDue: TakeStep = async ({ scene, tasks }, { pick }) => {
  const limit = 1 + (pick % 3);
  const wakeAtOf = (task: (typeof tasks)[number]) => currentAttempt(task).wakeUp?.at;
  const due = tasks.filter((task) => (wakeAtOf(task) ?? Infinity) <= scene.clock.now());
  expect(await scene.store.attempts.wakeDue(limit)).toBe(Math.min(limit, due.length));
  for (const task of due) {
    const attempts = await scene.store.attempts.listOf(task.id);
    if (attempts.at(-1)?.state === 'queued') wakeAttempt(task);
  }
  const left = tasks.map(wakeAtOf).filter((at) => at !== undefined);
  const next = left.length === 0 ? undefined : Math.min(...left);
  expect(await scene.store.attempts.nextWakeAt()).toBe(next);
};
