import type { Fence } from '../attempts.ts';
import { currentAttempt } from './history-model.ts';
import type { ModelTask } from './history-model.ts';
import type { Scene } from './scene.ts';

/** A history on its way: the store, and what it should hold. */
export interface History {
  readonly scene: Scene;
  readonly tasks: ModelTask[];
}

/** What a step chooses. */
export interface Choice {
  /** Chooses a task. */
  readonly task: number;
  /** Chooses a key, a duration, a limit. */
  readonly pick: number;
  /** A second choice: stale fences, strangers, reads. */
  readonly odd: boolean;
}

export type TakeStep = (history: History, step: Choice) => Promise<void>;

/** Runs on a task that exists; a history without tasks skips the step. */
export const onTask =
  (take: (history: History, step: Choice, task: ModelTask) => Promise<void>): TakeStep =>
  async (history, step) => {
    const task = chosen(history.tasks, step);
    if (task !== undefined) await take(history, step, task);
  };

/** Mostly one that has not ended: on the others little can happen. */
function chosen(tasks: readonly ModelTask[], { task }: Choice): ModelTask | undefined {
  const open = tasks.filter(({ phase }) => phase !== 'ended');
  const from = task % 4 > 0 && open.length > 0 ? open : tasks;
  return from[task % Math.max(1, from.length)];
}

const KEYS = ['a', 'b', 'c'];
export const keyOf = ({ pick }: Choice): string => KEYS[pick % KEYS.length] ?? 'a';

/** Mostly a key that was asked. */
export function askedKeyOf({ keys }: ModelTask, step: Choice): string {
  const asked = [...keys.keys()];
  return (step.pick % 5 > 0 ? asked[step.pick % asked.length] : undefined) ?? keyOf(step);
}

/** The fence of the task's current attempt; odd steps hold one of an earlier epoch. */
export function fenceFor(task: ModelTask, { odd }: Choice): Fence {
  const { id, epoch } = currentAttempt(task);
  return { taskId: task.id, attemptId: id, epoch: odd ? epoch - 1 : epoch };
}

/** Whether that fence proves anything. */
export const holds = (task: ModelTask, { odd }: Choice): boolean =>
  !odd && !task.swept && currentAttempt(task).state === 'running';
