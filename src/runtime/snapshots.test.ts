import { expect, test } from 'vitest';
import { createPrincipal } from '../identity/principal.ts';
import { createManualClock } from '../kernel/manual-clock.ts';
import type { TaskView } from '../protocol/codec.ts';
import type { Task } from '../protocol/model.ts';
import { createFeed } from './feed.ts';
import { createSnapshots } from './snapshots.ts';

const someone = (subject: string) =>
  createPrincipal({ issuer: 'i', tenant: 't', subject, method: 'token', scopes: ['*'] });
const ada = someone('ada');
const TTL_MS = 60_000;

const taskOf = (facts: Partial<Task> = {}): Task => ({
  id: 'one',
  owner: ada.key,
  tenant: 't',
  origin: '2026-07-28',
  handle: 'given',
  upstream: 'u',
  tool: 'x',
  effect: 'read',
  phase: 'working',
  createdAt: Date.UTC(2026, 0, 1),
  updatedAt: Date.UTC(2026, 0, 1),
  ttlMs: TTL_MS,
  pollIntervalMs: 1000,
  asks: [],
  revision: 1,
  ...facts,
});
const viewOf = (facts?: Partial<Task>): TaskView => ({ task: taskOf(facts), inputs: [] });

function setUp(ageMsMax = 250) {
  const clock = createManualClock();
  const feed = createFeed();
  const snapshots = createSnapshots({ feed, clock, now: () => clock.now(), ageMsMax });
  return { clock, feed, snapshots, remember: () => snapshots.through('one', async () => viewOf()) };
}

test('a view is shown again to its owner while it is young, and to nobody else', async () => {
  const { clock, snapshots, remember } = setUp();
  await remember();
  expect(snapshots.find(ada, 'one')).toEqual(viewOf());
  expect(snapshots.find(someone('bob'), 'one')).toBeUndefined();
  clock.advance(250);
  expect(snapshots.find(ada, 'one')).toBeUndefined();
});

test('a change drops it at once, also one that comes while it is being read', async () => {
  const { feed, snapshots, remember } = setUp();
  await remember();
  feed.publish('one', { kind: 'changed', task: taskOf({ revision: 2 }) });
  expect(snapshots.find(ada, 'one')).toBeUndefined();
  await snapshots.through('one', async () => {
    feed.publish('one', { kind: 'closed', taskId: 'one', keys: ['k'], why: 'answered' });
    return viewOf();
  });
  expect(snapshots.find(ada, 'one')).toBeUndefined();
});

test('progress changes nothing that a view shows', async () => {
  const { feed, snapshots, remember } = setUp();
  await remember();
  feed.publish('one', { kind: 'progress', taskId: 'one', params: {} });
  expect(snapshots.find(ada, 'one')).toBeDefined();
});

test('it ends with its record, however young it is', async () => {
  const { clock, snapshots, remember } = setUp(TTL_MS * 2);
  await remember();
  clock.advance(TTL_MS);
  expect(snapshots.find(ada, 'one')).toBeUndefined();
});

test('where others write the same records nothing is kept', async () => {
  const { snapshots, remember } = setUp(0);
  await remember();
  expect(snapshots.find(ada, 'one')).toBeUndefined();
});
