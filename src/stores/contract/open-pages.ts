import type { Access } from '../access.ts';
import type { Store } from '../store.ts';
import { answerTo, givenRunning, pageQuestion, question } from './given.ts';
import { ALICE } from './people.ts';

/** A running task that asks for a page, under the key `page`, and for other things. */
export async function givenPage(store: Store, ...others: readonly string[]) {
  const running = await givenRunning(store);
  const inputs = [pageQuestion('page', 'hash'), ...others.map((key) => question(key))];
  await store.inputs.ask(running.fence, inputs);
  return running;
}

/** What that page says. */
export const PAID = answerTo('page', 'paid').answer;

export const confirmPage = (store: Store, by: Access = ALICE) =>
  store.inputs.confirm(by, 'hash', PAID);

export const pageState = async (store: Store, taskId: string) =>
  (await store.inputs.find(taskId, 'page'))?.input.state;
