import { describe, expect, test } from 'vitest';
import { draftTask, givenExisting, givenRunning, givenTask, settlement, TTL_MS } from './given.ts';
import type { Draft } from './given.ts';
import { ALICE, STRANGERS } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

const AFTER_MS = 600_000;
const GUARDED: Draft = {
  guard: { fingerprint: 'f1.same', afterDeliveryMs: AFTER_MS },
  ttlMs: 10 * AFTER_MS,
};

const ABANDONED = { outcome: { kind: 'cancelled' }, callEnd: 'cancelled' } as const;

/** The keyless guard (decision 4), and what it goes by: whether the outcome was delivered. */
export function describeRepeats(open: OpenScene): void {
  describe('create under the guard', () => {
    const scene = useScene(open);
    testGuard(scene);
    testBelonging(scene);
    testDelivery(scene);
  });
}

/** A guarded call that was sent and answered. */
async function givenAnswered(scene: Scene) {
  const { task, fence } = await givenRunning(scene.store, GUARDED);
  await scene.store.attempts.markDispatched(fence);
  await scene.store.tasks.settle(settlement(task.id, { fence }));
  return task;
}

function testGuard(scene: Scene): void {
  test('a repeat is the call that is under way', async () => {
    const first = await givenTask(scene.store, GUARDED);
    const again = await givenExisting(scene.store, GUARDED);
    expect(again).toMatchObject({ by: 'guard', task: { id: first.id } });
  });

  test('it is the call that was made, until its outcome was delivered and a while', async () => {
    const first = await givenAnswered(scene);
    scene.clock.advance(AFTER_MS);
    expect(await givenExisting(scene.store, GUARDED)).toMatchObject({ task: { id: first.id } });
    await scene.store.tasks.markDelivered(first.id);
    scene.clock.advance(AFTER_MS - 1);
    expect(await givenExisting(scene.store, GUARDED)).toMatchObject({ task: { id: first.id } });
    scene.clock.advance(1);
    const second = await givenTask(scene.store, GUARDED);
    expect(second.operationId).not.toBe(first.operationId);
  });

  test('what is lost is not let go by time, delivered or not [D5]', async () => {
    const { task, fence } = await givenRunning(scene.store, GUARDED);
    await scene.store.attempts.markDispatched(fence);
    const lost = { fence, callEnd: 'lost', reason: 'upstream_lost' } as const;
    await scene.store.tasks.settle(settlement(task.id, lost));
    await scene.store.tasks.markDelivered(task.id);
    scene.clock.advance(20 * AFTER_MS);
    const again = await givenExisting(scene.store, GUARDED);
    expect(again.task).toBeUndefined();
    expect(again.operation).toMatchObject({ id: task.operationId, state: 'unknown' });
  });

  test('what was never sent is begun anew on the same operation', async () => {
    const first = await givenTask(scene.store, GUARDED);
    await scene.store.tasks.settle(settlement(first.id, ABANDONED));
    const again = await givenTask(scene.store, GUARDED);
    expect(again.operationId).toBe(first.operationId);
  });

  test('other arguments are another call', async () => {
    await givenTask(scene.store, GUARDED);
    const other = { guard: { fingerprint: 'f1.other', afterDeliveryMs: AFTER_MS } };
    expect(await scene.store.tasks.create(draftTask(other))).toMatchObject({ kind: 'created' });
  });

  test('without the guard the same call is made again, and is the one that repeats meet', async () => {
    const first = await givenTask(scene.store, GUARDED);
    scene.clock.advance(1);
    const { guard: _, ...wanted } = draftTask(GUARDED);
    const second = await scene.store.tasks.create(wanted);
    expect(second).toMatchObject({ kind: 'created' });
    const again = await givenExisting(scene.store, GUARDED);
    expect(again.task?.id).toBe(wanted.task.id);
    expect(again.task?.id).not.toBe(first.id);
  });
}

function testBelonging(scene: Scene): void {
  test.each(STRANGERS)('%s is not held back by it', async (_who, by) => {
    await givenTask(scene.store, GUARDED);
    const theirs = await scene.store.tasks.create(draftTask({ ...GUARDED, by }));
    expect(theirs).toMatchObject({ kind: 'created', task: by });
  });
}

function testDelivery(scene: Scene): void {
  const deliveredAt = async (operationId: string | undefined) =>
    (await scene.store.operations.get(ALICE, operationId ?? ''))?.deliveredAt;

  test('the first delivery counts, and is told once', async () => {
    const task = await givenAnswered(scene);
    expect(await deliveredAt(task.operationId)).toBeUndefined();
    scene.clock.advance(5);
    await scene.store.tasks.markDelivered(task.id);
    scene.clock.advance(5);
    await scene.store.tasks.markDelivered(task.id);
    expect(await deliveredAt(task.operationId)).toBe(SCENE_START + 5);
    const events = await scene.store.events.list({ limit: 20, taskId: task.id });
    expect(events.filter(({ type }) => type === 'task.delivered')).toHaveLength(1);
  });

  test('a call that has not ended was not delivered', async () => {
    const task = await givenTask(scene.store, GUARDED);
    await scene.store.tasks.markDelivered(task.id);
    expect(await deliveredAt(task.operationId)).toBeUndefined();
  });

  test('a read, and a record that is not there, are delivered to nobody’s harm', async () => {
    const read = await givenTask(scene.store, { effect: 'read' });
    await scene.store.tasks.settle(settlement(read.id));
    await scene.store.tasks.markDelivered(read.id);
    await scene.store.tasks.markDelivered('tsk_none');
    expect((await scene.store.check()).ok).toBe(true);
  });

  test('what the earlier task delivered says nothing about the one that follows on it', async () => {
    const first = await givenTask(scene.store, { ...GUARDED, ttlMs: TTL_MS });
    await scene.store.tasks.settle(settlement(first.id, ABANDONED));
    await scene.store.tasks.markDelivered(first.id);
    expect(await deliveredAt(first.operationId)).toBe(SCENE_START);
    const again = await givenTask(scene.store, GUARDED);
    expect(await deliveredAt(again.operationId)).toBeUndefined();
    await scene.store.tasks.markDelivered(first.id);
    expect(await deliveredAt(again.operationId)).toBeUndefined();
  });
}
