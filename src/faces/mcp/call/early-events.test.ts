import { expect, test } from 'vitest';
import { createFeed, type TaskEvent } from '../../../runtime/feed.ts';
import { hearEarly } from './early-events.ts';

const progress = (taskId: string, at: number): TaskEvent => ({
  kind: 'progress',
  taskId,
  params: { progress: at },
});

test('what happened before the id was known is told first, of that task alone, and what follows after', () => {
  const feed = createFeed();
  const early = hearEarly(feed);
  feed.publish('mine', progress('mine', 1));
  feed.publish('other', progress('other', 2));
  const heard: TaskEvent[] = [];
  const stop = early.follow('mine', (event) => void heard.push(event));
  feed.publish('mine', progress('mine', 3));
  feed.publish('other', progress('other', 4));
  stop();
  feed.publish('mine', progress('mine', 5));
  expect(heard).toEqual([progress('mine', 1), progress('mine', 3)]);
});

test('a second follower of the same call hears only what is new', () => {
  const feed = createFeed();
  const early = hearEarly(feed);
  feed.publish('mine', progress('mine', 1));
  early.follow('mine', () => undefined)();
  const heard: TaskEvent[] = [];
  early.follow('mine', (event) => void heard.push(event));
  feed.publish('mine', progress('mine', 2));
  expect(heard).toEqual([progress('mine', 2)]);
});
