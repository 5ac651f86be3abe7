import { expect, test } from 'vitest';
import type { Task } from '../protocol/model.ts';
import { createFeed } from './feed.ts';
import type { Receiver } from './receiver.ts';
import { scopedReceiver } from './scoped-receiver.ts';

const taskOf = (upstream: string): Task => ({ id: `tsk_${upstream}`, upstream }) as Task;

test('a window hears of what it is shown, and still of a task that it watches by its id', () => {
  const feed = createFeed();
  const receiver = scopedReceiver({ feed } as Receiver, ({ upstream }) => upstream === 'own');
  const heard: string[] = [];
  receiver.feed.watchAll((event) => heard.push(event.kind));
  receiver.feed.watch('tsk_other', () => heard.push('watched'));
  feed.publish('tsk_own', { kind: 'changed', task: taskOf('own') });
  feed.publish('tsk_other', { kind: 'changed', task: taskOf('other') });
  feed.publish('tsk_other', { kind: 'asked', task: taskOf('other'), inputs: [] });
  expect(heard).toEqual(['changed', 'watched', 'watched']);
});
