import { describe, expect, test } from 'vitest';
import { draftTask, givenRunning, givenTask } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** The contract of Store as a whole. */
export function describeStore(open: OpenScene): void {
  describe('Store', () => {
    const scene = useScene(open);
    testHealth(scene);
    testManyAtOnce(scene);
    testClosing(scene);
  });
}

function testHealth(scene: Scene): void {
  test('its time is the clock’s', () => {
    expect(scene.store.now()).toBe(SCENE_START);
    scene.clock.advance(5);
    expect(scene.store.now()).toBe(SCENE_START + 5);
  });

  test('a sound store says so', async () => {
    await givenRunning(scene.store);
    const health = await scene.store.check();
    expect(health).toMatchObject({ ok: true });
    expect(health.schemaVersion).toBeGreaterThanOrEqual(1);
  });
}

function testManyAtOnce(scene: Scene): void {
  test('one write that fails does not hurt those beside it', async () => {
    const poison = draftTask();
    await scene.store.tasks.create(poison);
    const drafts = Array.from({ length: 20 }, () => draftTask());
    const writes = [...drafts.slice(0, 10), poison, ...drafts.slice(10)];
    const ends = await Promise.allSettled(writes.map((write) => scene.store.tasks.create(write)));
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(ends[10]?.status).toBe('rejected');
    for (const { task } of drafts) {
      expect(await scene.store.tasks.get(ALICE, task.id)).toMatchObject({ id: task.id });
    }
    expect(await scene.store.tasks.counts()).toMatchObject({ working: 21 });
  });

  test('writes take effect in the order in which they were asked for', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const messages = Array.from({ length: 50 }, (_, index) => `message ${index}`);
    await Promise.all(messages.map((message) => scene.store.tasks.setMessage(fence, message)));
    expect(await scene.store.tasks.get(ALICE, task.id)).toMatchObject({ message: 'message 49' });
  });
}

function testClosing(scene: Scene): void {
  test('closing waits for the writes that were asked for', async () => {
    const draft = draftTask();
    const created = scene.store.tasks.create(draft);
    await scene.store.close();
    expect(await created).toMatchObject({ kind: 'created' });
  });

  test('a closed store refuses everything, and closes twice without complaint', async () => {
    const task = await givenTask(scene.store);
    const { store } = scene;
    await store.close();
    await store.close();
    const closed = { code: 'LONGCALL_STORE_CLOSED' };
    await expect(store.tasks.get(ALICE, task.id)).rejects.toMatchObject(closed);
    await expect(store.tasks.create(draftTask())).rejects.toMatchObject(closed);
    await expect(store.attempts.queuedCount()).rejects.toMatchObject(closed);
    await expect(store.check()).rejects.toMatchObject(closed);
  });
}
