import type { Fence } from '../attempts.ts';
import type { NewInput } from '../inputs.ts';
import type { Store } from '../store.ts';
import { answerTo, freshAttemptId, givenRunning, question } from './given.ts';
import type { RunningTask } from './given.ts';
import { ALICE } from './people.ts';

/** Tasks that sleep in the store, and what tests want to know of them. */

/** A task whose first attempt has asked and sleeps on the answers. */
export async function askedAndParked(
  store: Store,
  inputs: readonly NewInput[],
): Promise<RunningTask & { readonly parkedId: string }> {
  const running = await givenRunning(store);
  const parkedId = freshAttemptId();
  await store.inputs.ask(running.fence, inputs);
  await store.attempts.park(running.fence, { nextAttemptId: parkedId, onAnswers: true });
  return { ...running, parkedId };
}

export const parkedOn = (store: Store, keys: readonly string[]) =>
  askedAndParked(
    store,
    keys.map((key) => question(key)),
  );

export async function sleepUntil(store: Store, fence: Fence, at: number): Promise<void> {
  await store.attempts.park(fence, { nextAttemptId: freshAttemptId(), onAnswers: false, at });
}

/** ALICE answers. */
export const answerKeys = (store: Store, taskId: string, keys: readonly string[]) =>
  store.inputs.answer(ALICE, { taskId, answers: keys.map((key) => answerTo(key)) });

/** Where the task's attempts stand, oldest first. */
export const statesOf = async (store: Store, taskId: string) =>
  (await store.attempts.listOf(taskId)).map(({ state }) => state);
