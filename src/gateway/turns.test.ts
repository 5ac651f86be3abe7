import { expect, test } from 'vitest';
import { createDeferred } from '../kernel/deferred.ts';
import { createTurns } from './turns.ts';

test('changes of one thing wait for each other, those of others do not', async () => {
  const turns = createTurns();
  const gate = createDeferred<void>();
  const order: string[] = [];
  const note = (name: string) => () => Promise.resolve(void order.push(name));
  const first = turns.take('a', () => gate.promise.then(note('first')));
  const second = turns.take('a', note('second'));
  await turns.take('b', note('other'));
  expect(order).toEqual(['other']);
  gate.resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(['other', 'first', 'second']);
});

test('a change that fails does not stop the next', async () => {
  const turns = createTurns();
  const failed = turns.take('a', () => Promise.reject(new Error('no')));
  const next = turns.take('a', () => Promise.resolve(7));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe(7);
});
