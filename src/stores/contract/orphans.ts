import { describe, expect, test } from 'vitest';
import { BOOT, freshAttemptId, givenRunning, LEASE_MS, question, settlement } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

export function describeOrphans(open: OpenScene): void {
  describe('orphans', () => {
    const scene = useScene(open);
    testFinding(scene);
    testTakingOver(scene);
  });
}

function testFinding(scene: Scene): void {
  test('the attempts of the dead are found at once, own ones never', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.attempts.listOrphaned(BOOT, true)).toEqual([]);
    expect(await scene.store.attempts.listOrphaned('boot_two', true)).toMatchObject([
      { task, attempt: { id: fence.attemptId, epoch: fence.epoch + 1, owner: BOOT } },
    ]);
  });

  test('where nobody is known to be dead, only leases that have passed count', async () => {
    await givenRunning(scene.store);
    scene.clock.advance(LEASE_MS - 1);
    expect(await scene.store.attempts.listOrphaned('boot_two', false)).toEqual([]);
    scene.clock.advance(1);
    expect(await scene.store.attempts.listOrphaned('boot_two', false)).toHaveLength(1);
  });

  test('who has taken an orphan has time to judge it before the next one looks', async () => {
    await givenRunning(scene.store);
    scene.clock.advance(LEASE_MS);
    expect(await scene.store.attempts.listOrphaned('boot_two', false)).toHaveLength(1);
    expect(await scene.store.attempts.listOrphaned('boot_three', false)).toEqual([]);
    scene.clock.advance(60_000);
    expect(await scene.store.attempts.listOrphaned('boot_three', false)).toHaveLength(1);
  });

  test('queued and ended attempts are nobody’s orphans', async () => {
    const requeued = await givenRunning(scene.store);
    const ended = await givenRunning(scene.store);
    await scene.store.attempts.requeue(requeued.fence, freshAttemptId(), 'lost');
    await scene.store.tasks.settle(settlement(ended.task.id, { fence: ended.fence }));
    expect(await scene.store.attempts.listOrphaned('boot_two', true)).toEqual([]);
  });
}

function testTakingOver(scene: Scene): void {
  test('the dead can write no more', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.listOrphaned('boot_two', true);
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(false);
    expect(await scene.store.attempts.markDispatched(fence)).toBe(false);
    expect(await scene.store.inputs.ask(fence, [question('one')])).toEqual({
      kind: 'refused',
      reason: 'fenced',
    });
    const late = await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(late).toMatchObject({ kind: 'late', task: { phase: 'working' } });
  });

  test('the raised epoch is the fence of who took over', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const [orphan] = await scene.store.attempts.listOrphaned('boot_two', true);
    const taken = { ...fence, epoch: orphan?.attempt.epoch ?? 0 };
    const settled = await scene.store.tasks.settle(settlement(task.id, { fence: taken }));
    expect(settled).toMatchObject({ kind: 'settled' });
  });

  test('an orphan survives the reopening of the store', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    await scene.reopen();
    const [orphan] = await scene.store.attempts.listOrphaned('boot_two', true);
    expect(orphan?.attempt.dispatchedAt).toBeDefined();
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(orphan?.task);
    const taken = { ...fence, epoch: orphan?.attempt.epoch ?? 0 };
    expect(await scene.store.attempts.requeue(taken, freshAttemptId(), 'died')).toBe(true);
    expect(await scene.store.attempts.queuedCount()).toBe(1);
  });
}
