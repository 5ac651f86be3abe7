import { describe, expect, test } from 'vitest';
import { givenRunning, givenTask, settlement, storyOf } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

export function describeTaskChanges(open: OpenScene): void {
  describe('changes of a task', () => {
    const scene = useScene(open);
    testMessage(scene);
    testHandle(scene);
    testCancelRequest(scene);
    testUpdateTime(scene);
    testCounts(scene);
  });
}

function testMessage(scene: Scene): void {
  test('a running attempt sets the message', async () => {
    const { task, fence } = await givenRunning(scene.store);
    scene.clock.advance(10);
    const told = await scene.store.tasks.setMessage(fence, 'half done');
    expect(told).toEqual({
      ...task,
      message: 'half done',
      updatedAt: SCENE_START + 10,
      revision: task.revision + 1,
    });
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(told);
  });

  test('an attempt that is fenced out or ended sets none', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const old = { ...fence, epoch: fence.epoch - 1 };
    expect(await scene.store.tasks.setMessage(old, 'from the dead')).toBeUndefined();
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.tasks.setMessage(fence, 'too late')).toBeUndefined();
    expect((await scene.store.tasks.get(ALICE, task.id))?.message).toBeUndefined();
  });
}

function testHandle(scene: Scene): void {
  test.each(['given', 'inline'] as const)('a pending handle becomes %s', async (handle) => {
    const task = await givenTask(scene.store);
    scene.clock.advance(10);
    const moved = await scene.store.tasks.setHandle(task.id, handle);
    expect(moved).toEqual({ ...task, handle, revision: 2 });
    const given = handle === 'given' ? ['task.handle_given'] : [];
    expect(await storyOf(scene.store, task.id)).toEqual(['task.created', ...given]);
  });

  test('a handle that was given stays so', async () => {
    const task = await givenTask(scene.store, { handle: 'given' });
    expect(await scene.store.tasks.setHandle(task.id, 'inline')).toEqual(task);
    expect(await storyOf(scene.store, task.id)).toEqual(['task.created']);
  });

  test('a repeat of a plain call can take the handle, and its owner finds it in the list', async () => {
    const task = await givenTask(scene.store, { origin: 'plain', handle: 'inline' });
    expect(await scene.store.tasks.setHandle(task.id, 'given')).toMatchObject({ handle: 'given' });
    const listed = await scene.store.tasks.list(ALICE, { limit: 10, withHandle: true });
    expect(listed.map(({ id }) => id)).toEqual([task.id]);
  });

  test('the handle of a task that has ended can still be given', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.tasks.setHandle(task.id, 'given')).toMatchObject({ handle: 'given' });
    expect(await scene.store.tasks.setHandle('tsk_none', 'given')).toBeUndefined();
  });
}

function testCancelRequest(scene: Scene): void {
  test('the first cancel request counts, and its time stays', async () => {
    const task = await givenTask(scene.store);
    scene.clock.advance(10);
    const marked = await scene.store.tasks.requestCancel(ALICE, task.id);
    expect(marked).toEqual({ ...task, cancelRequestedAt: SCENE_START + 10, revision: 2 });
    scene.clock.advance(10);
    expect(await scene.store.tasks.requestCancel('system', task.id)).toEqual(marked);
    const events = await scene.store.events.list({ limit: 10, taskId: task.id });
    expect(events.at(-1)).toMatchObject({ type: 'task.cancel_requested', actor: ALICE.owner });
    expect(events).toHaveLength(2);
  });

  test('a task that has ended is answered as it is', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    const ended = await scene.store.tasks.get(ALICE, task.id);
    expect(await scene.store.tasks.requestCancel(ALICE, task.id)).toEqual(ended);
    expect(ended?.cancelRequestedAt).toBeUndefined();
  });
}

function testUpdateTime(scene: Scene): void {
  test('the update time never goes back when the clock does', async () => {
    const { task, fence } = await givenRunning(scene.store);
    scene.clock.advance(500);
    await scene.store.tasks.setMessage(fence, 'one');
    scene.clock.set(SCENE_START - 10_000);
    const told = await scene.store.tasks.setMessage(fence, 'two');
    expect(told).toMatchObject({ message: 'two', updatedAt: SCENE_START + 500 });
    const ended = await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(ended).toMatchObject({ kind: 'settled', task: { updatedAt: SCENE_START + 500 } });
  });

  test('reads move nothing', async () => {
    const task = await givenTask(scene.store);
    scene.clock.advance(1000);
    await scene.store.tasks.list(ALICE, { limit: 10, withHandle: false });
    await scene.store.tasks.outcome(ALICE, task.id);
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(task);
  });
}

function testCounts(scene: Scene): void {
  test('counts tell working, waiting and ended tasks apart', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const asking = await givenRunning(scene.store);
    await givenTask(scene.store);
    const one = { key: 'one', method: 'roots/list', params: {}, openMs: 1000 } as const;
    await scene.store.inputs.ask(asking.fence, [one, { ...one, key: 'two' }]);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.tasks.counts()).toEqual({ working: 1, inputRequired: 1, ended: 1 });
  });
}
