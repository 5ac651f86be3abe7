import { describe, expect, test } from 'vitest';
import type { Fence, UpstreamTask } from '../attempts.ts';
import { freshAttemptId, givenClaim, givenRunning, givenTask, question, storyOf } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

export function describeLeases(open: OpenScene): void {
  describe('leases and epochs', () => {
    const scene = useScene(open);
    testExtending(scene);
    testFencing(scene);
    testDispatch(scene);
    testRequeue(scene);
  });
}

function testExtending(scene: Scene): void {
  test('a lease is extended from now, by its holder', async () => {
    const { task, fence } = await givenRunning(scene.store);
    scene.clock.advance(5000);
    expect(await scene.store.attempts.extend(fence, 20_000)).toBe(true);
    const leaseUntil = SCENE_START + 25_000;
    expect(await scene.store.attempts.listOf(task.id)).toMatchObject([{ leaseUntil }]);
  });

  test('how long an attempt has run is what it said last, until it goes to sleep', async () => {
    const { attempts } = scene.store;
    const { task, fence } = await givenRunning(scene.store);
    await attempts.extend(fence, 1000, 700);
    await attempts.extend(fence, 1000);
    expect(await attempts.listOf(task.id)).toMatchObject([{ ranMs: 700 }]);
    const at = SCENE_START + 60_000;
    await attempts.park(fence, {
      nextAttemptId: freshAttemptId(),
      onAnswers: false,
      at,
      ranMs: 900,
    });
    const [first, next] = await attempts.listOf(task.id);
    expect(first?.ranMs).toBe(900);
    expect(next).not.toHaveProperty('ranMs');
  });

  test('a lease that has passed is still its holder’s until somebody takes it over', async () => {
    const { fence } = await givenRunning(scene.store);
    scene.clock.advance(30_000);
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(true);
    scene.clock.advance(1000);
    expect(await scene.store.attempts.listOrphaned('boot_two', false)).toHaveLength(1);
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(false);
  });
}

const UPSTREAM: UpstreamTask = {
  generation: '2026-07-28',
  taskId: 'theirs',
  pollIntervalMs: 500,
  relayedKeys: ['a'],
};

const FORGERIES: readonly (readonly [string, (fence: Fence) => Fence])[] = [
  ['an older epoch', (fence) => ({ ...fence, epoch: fence.epoch - 1 })],
  ['an epoch that was never given', (fence) => ({ ...fence, epoch: fence.epoch + 1 })],
  ['another attempt', (fence) => ({ ...fence, attemptId: 'att_other' })],
  ['another task', (fence) => ({ ...fence, taskId: 'tsk_other' })],
];

function testFencing(scene: Scene): void {
  test.each(FORGERIES)('%s proves nothing', async (_what, forge) => {
    const { task, fence } = await givenRunning(scene.store);
    const forged = forge(fence);
    const before = await scene.store.attempts.listOf(task.id);
    expect(await scene.store.attempts.extend(forged, 1e6)).toBe(false);
    expect(await scene.store.attempts.markDispatched(forged)).toBe(false);
    expect(await scene.store.attempts.journalUpstream(forged, UPSTREAM)).toBe(false);
    expect(await scene.store.attempts.requeue(forged, freshAttemptId(), 'lost')).toBe(false);
    expect(await scene.store.tasks.setMessage(forged, 'x')).toBeUndefined();
    const asked = await scene.store.inputs.ask(forged, [question('one')]);
    expect(asked).toMatchObject({ kind: 'refused' });
    expect(await scene.store.attempts.listOf(task.id)).toEqual(before);
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(task);
    expect(await storyOf(scene.store, task.id)).toEqual(['task.created']);
  });

  test('a queued attempt cannot be written to', async () => {
    const task = await givenTask(scene.store);
    const [queued] = await scene.store.attempts.listOf(task.id);
    const fence = { taskId: task.id, attemptId: queued?.id ?? '', epoch: 0 };
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(false);
    expect(await scene.store.attempts.markDispatched(fence)).toBe(false);
  });
}

function testDispatch(scene: Scene): void {
  test('dispatch is recorded once, at attempt and operation', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.attempts.markDispatched(fence)).toBe(true);
    scene.clock.advance(10);
    expect(await scene.store.attempts.markDispatched(fence)).toBe(true);
    const dispatchedAt = SCENE_START;
    expect(await scene.store.attempts.listOf(task.id)).toMatchObject([{ dispatchedAt }]);
    const operation = await scene.store.operations.get(ALICE, task.operationId ?? '');
    expect(operation).toMatchObject({ state: 'dispatched', dispatchedAt });
    expect(await storyOf(scene.store, task.id)).toEqual([
      'task.created',
      'operation.moved intended->dispatched',
      'task.dispatched',
    ]);
  });

  test('a read is dispatched without an operation, by each attempt anew', async () => {
    const { task, fence } = await givenRunning(scene.store, { effect: 'read' });
    expect(await scene.store.attempts.markDispatched(fence)).toBe(true);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    expect(await scene.store.attempts.markDispatched(next)).toBe(true);
  });

  test('what one attempt has sent, the next one may not send again', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    expect(await scene.store.attempts.markDispatched(next)).toBe(false);
    const attempts = await scene.store.attempts.listOf(task.id);
    expect(attempts.map(({ dispatchedAt }) => dispatchedAt)).toEqual([SCENE_START, undefined]);
  });

  test('what the first attempt never sent, the next one sends', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    expect(await scene.store.attempts.markDispatched(next)).toBe(true);
  });
}

function testRequeue(scene: Scene): void {
  test('requeueing ends one attempt and queues the next, with what was journalled', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.attempts.journalUpstream(fence, UPSTREAM)).toBe(true);
    const next = freshAttemptId();
    expect(await scene.store.attempts.requeue(fence, next, 'process_died')).toBe(true);
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(false);
    expect(await scene.store.attempts.listOf(task.id)).toMatchObject([
      { id: fence.attemptId, number: 1, state: 'ended', upstreamTask: UPSTREAM },
      { id: next, number: 2, state: 'queued', epoch: fence.epoch, upstreamTask: UPSTREAM },
    ]);
    expect((await storyOf(scene.store, task.id)).at(-1)).toBe('task.requeued process_died');
    const claimed = await givenClaim(scene.store, task.id, 'boot_two');
    expect(claimed.epoch).toBe(fence.epoch + 1);
  });

  test('the journal is replaced as a whole', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.journalUpstream(fence, UPSTREAM);
    const bare: UpstreamTask = { generation: '2025-11-25', taskId: 'other' };
    await scene.store.attempts.journalUpstream(fence, bare);
    const [attempt] = await scene.store.attempts.listOf(task.id);
    expect(attempt?.upstreamTask).toEqual(bare);
  });
}
