import { describe, expect, test } from 'vitest';
import {
  answerTo,
  givenRunning,
  givenTask,
  question,
  settlement,
  storyOf,
  TTL_MS,
} from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

export function describeTaskExpiry(open: OpenScene): void {
  describe('expiry', () => {
    const scene = useScene(open);
    testEnded(scene);
    testOverdue(scene);
    testSweep(scene);
  });
}

const EXPIRY = SCENE_START + TTL_MS;
const LIST = { limit: 10, withHandle: false };

async function givenEnded(scene: Scene) {
  const { task, fence } = await givenRunning(scene.store);
  await scene.store.tasks.settle(settlement(task.id, { fence }));
  return task;
}

function testEnded(scene: Scene): void {
  test('an ended record is whole until its last millisecond', async () => {
    const task = await givenEnded(scene);
    scene.clock.set(EXPIRY - 1);
    expect(await scene.store.tasks.get(ALICE, task.id)).toBeDefined();
    expect(await scene.store.tasks.outcome(ALICE, task.id)).toBeDefined();
    expect(await scene.store.tasks.list(ALICE, LIST)).toHaveLength(1);
    expect(await scene.store.tasks.sweepExpired(10)).toBe(0);
  });

  test('from then on every method answers as if it had never been', async () => {
    const task = await givenEnded(scene);
    scene.clock.set(EXPIRY);
    for (const access of [ALICE, 'system'] as const) {
      expect(await scene.store.tasks.get(access, task.id)).toBeUndefined();
      expect(await scene.store.tasks.outcome(access, task.id)).toBeUndefined();
      expect(await scene.store.tasks.list(access, LIST)).toEqual([]);
      expect(await scene.store.tasks.requestCancel(access, task.id)).toBeUndefined();
      expect(await scene.store.inputs.listPending(access, task.id)).toEqual([]);
      const params = { taskId: task.id, answers: [answerTo('one')] };
      expect(await scene.store.inputs.answer(access, params)).toEqual({ kind: 'missing' });
    }
    expect(await scene.store.tasks.request(task.id)).toBeUndefined();
    expect(await scene.store.tasks.setHandle(task.id, 'given')).toBeUndefined();
    expect(await scene.store.tasks.settle(settlement(task.id))).toEqual({ kind: 'missing' });
    expect(await scene.store.inputs.withdraw(task.id, ['one'], 'ended')).toBeUndefined();
    expect(await scene.store.tasks.counts()).toEqual({ working: 0, inputRequired: 0, ended: 0 });
  });
}

function testOverdue(scene: Scene): void {
  test('open work whose time is up is gone for its owner and listed for the system', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one', TTL_MS * 2)]);
    scene.clock.set(EXPIRY - 1);
    expect(await scene.store.tasks.listOverdue(10)).toEqual([]);
    scene.clock.set(EXPIRY);
    expect(await scene.store.tasks.get(ALICE, task.id)).toBeUndefined();
    expect(await scene.store.tasks.list(ALICE, LIST)).toEqual([]);
    expect(await scene.store.tasks.requestCancel(ALICE, task.id)).toBeUndefined();
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toEqual([]);
    const params = { taskId: task.id, answers: [answerTo('one')] };
    expect(await scene.store.inputs.answer(ALICE, params)).toEqual({ kind: 'missing' });
    expect(await scene.store.tasks.get('system', task.id)).toMatchObject({ id: task.id });
    expect(await scene.store.tasks.list('system', LIST)).toHaveLength(1);
    expect(await scene.store.tasks.listOverdue(10)).toEqual([task.id]);
  });

  test('it is never swept; once settled it goes', async () => {
    const { task, fence } = await givenRunning(scene.store);
    scene.clock.set(EXPIRY);
    expect(await scene.store.tasks.sweepExpired(10)).toBe(0);
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(true);
    const settled = await scene.store.tasks.settle(settlement(task.id, { callEnd: 'lost' }));
    expect(settled).toMatchObject({ kind: 'settled', task: { phase: 'ended' } });
    expect(await scene.store.tasks.get('system', task.id)).toBeUndefined();
    expect(await scene.store.tasks.listOverdue(10)).toEqual([]);
    expect(await scene.store.tasks.sweepExpired(10)).toBe(1);
  });

  test('it asks nothing more and is not started', async () => {
    const { fence } = await givenRunning(scene.store);
    await givenTask(scene.store);
    scene.clock.set(EXPIRY);
    const asked = await scene.store.inputs.ask(fence, [question('one')]);
    expect(asked).toEqual({ kind: 'refused', reason: 'ended' });
    const claim = { owner: 'boot', leaseMs: 1000, limit: 10, runningPerTool: {} };
    expect(await scene.store.attempts.claim(claim)).toEqual([]);
  });

  test('the oldest overdue come first, no more than asked for', async () => {
    const ids: string[] = [];
    for (const ttlMs of [30, 10, 20]) ids.push((await givenTask(scene.store, { ttlMs })).id);
    scene.clock.advance(1000);
    expect(await scene.store.tasks.listOverdue(2)).toEqual([ids[1], ids[2]]);
  });
}

function testSweep(scene: Scene): void {
  test('a sweep takes the record with all that hangs on it, and never the operation', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    scene.clock.set(EXPIRY);
    expect(await scene.store.tasks.sweepExpired(10)).toBe(1);
    expect(await scene.store.attempts.listOf(task.id)).toEqual([]);
    expect(await scene.store.operations.get(ALICE, task.operationId ?? '')).toMatchObject({
      taskId: task.id,
    });
    expect((await storyOf(scene.store, task.id)).at(-1)).toBe('task.expired');
    expect((await scene.store.check()).ok).toBe(true);
  });

  test('a sweep takes as many as it was told to and leaves the living', async () => {
    for (let count = 0; count < 5; count += 1) await givenEnded(scene);
    const living = await givenTask(scene.store, { ttlMs: TTL_MS * 2 });
    scene.clock.set(EXPIRY);
    expect(await scene.store.tasks.sweepExpired(3)).toBe(3);
    expect(await scene.store.tasks.sweepExpired(3)).toBe(2);
    expect(await scene.store.tasks.sweepExpired(3)).toBe(0);
    expect(await scene.store.tasks.get(ALICE, living.id)).toEqual(living);
  });
}
