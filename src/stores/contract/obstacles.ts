import { describe, expect, test } from 'vitest';
import type { SettleTask } from '../tasks.ts';
import { freshAttemptId, givenClaim, givenRunning, givenTask, settlement } from './given.ts';
import { storyOf } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

/** `settle` with facts that keep a task from being ended: how a call is given up before anybody depends on it. */
export function describeObstacles(open: OpenScene): void {
  describe('settle unless', () => {
    const scene = useScene(open);
    testHolding(scene);
    testNotHolding(scene);
    testAgainstDispatch(scene);
    testAgainstHandle(scene);
  });
}

const GIVEN_UP = {
  outcome: { kind: 'cancelled' },
  callEnd: 'cancelled',
  reason: 'abandoned',
} as const satisfies Partial<SettleTask>;

const giveUp = (taskId: string, unless: SettleTask['unless'] = ['dispatched', 'given']) =>
  settlement(taskId, { ...GIVEN_UP, ...(unless ? { unless } : {}) });

function testHolding(scene: Scene): void {
  test('a task whose call was sent stays as it is', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    const before = await storyOf(scene.store, task.id);
    const kept = await scene.store.tasks.settle(giveUp(task.id));
    expect(kept).toEqual({ kind: 'kept', task, because: 'dispatched' });
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(task);
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(true);
    expect(await storyOf(scene.store, task.id)).toEqual(before);
  });

  test('an earlier attempt that has sent it counts too', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    expect(await scene.store.tasks.settle(giveUp(task.id))).toMatchObject({ kind: 'kept' });
  });

  test('a task whose handle left stays, and the first reason named is told', async () => {
    const { task, fence } = await givenRunning(scene.store, { handle: 'given' });
    const kept = await scene.store.tasks.settle(giveUp(task.id));
    expect(kept).toMatchObject({ kind: 'kept', because: 'given' });
    await scene.store.attempts.markDispatched(fence);
    const both = await scene.store.tasks.settle(giveUp(task.id, ['given', 'dispatched']));
    expect(both).toMatchObject({ kind: 'kept', because: 'given' });
  });
}

function testNotHolding(scene: Scene): void {
  test('a task that nobody depends on ends, and its operation is abandoned', async () => {
    const { task } = await givenRunning(scene.store);
    expect(await scene.store.tasks.settle(giveUp(task.id))).toMatchObject({ kind: 'settled' });
    const operation = await scene.store.operations.get(ALICE, task.operationId ?? '');
    expect(operation).toMatchObject({ state: 'abandoned', reason: 'abandoned' });
  });

  test('a fact that is not named keeps nothing', async () => {
    const { task, fence } = await givenRunning(scene.store, { handle: 'given' });
    const unsent = await scene.store.tasks.settle(giveUp(task.id, ['dispatched']));
    expect(unsent).toMatchObject({ kind: 'settled' });
    const late = await scene.store.tasks.settle(giveUp(task.id));
    expect(late).toMatchObject({ kind: 'late' });
    expect(await scene.store.attempts.markDispatched(fence)).toBe(false);
  });

  test('a task that is answered inline is no task whose handle left', async () => {
    const task = await givenTask(scene.store, { handle: 'inline' });
    expect(await scene.store.tasks.settle(giveUp(task.id))).toMatchObject({ kind: 'settled' });
  });
}

const RACES = 1000;
const AT_ONCE = 50;

async function race<T>(scene: Scene, run: (taskId: string, index: number) => Promise<T>) {
  const ends: T[] = [];
  for (let round = 0; round < RACES / AT_ONCE; round += 1) {
    const tasks = await Promise.all(Array.from({ length: AT_ONCE }, () => givenTask(scene.store)));
    await givenClaim(scene.store, tasks[0]?.id ?? '');
    ends.push(...(await Promise.all(tasks.map(({ id }, index) => run(id, index)))));
  }
  return ends;
}

function testAgainstDispatch(scene: Scene): void {
  test('of sending and giving up one wins, in a thousand races', async () => {
    const ends = await race(scene, async (taskId, index) => {
      const [attempt] = await scene.store.attempts.listOf(taskId);
      const fence = { taskId, attemptId: attempt?.id ?? '', epoch: attempt?.epoch ?? 0 };
      const send = () => scene.store.attempts.markDispatched(fence);
      const stop = async () => (await scene.store.tasks.settle(giveUp(taskId))).kind;
      const [sent, stopped] =
        index % 2 === 0
          ? await Promise.all([send(), stop()])
          : (await Promise.all([stop(), send()])).toReversed();
      return `${String(sent)} ${String(stopped)}`;
    });
    expect(new Set(ends)).toEqual(new Set(['true kept', 'false settled']));
    const counts = await scene.store.operations.counts();
    expect(counts).toMatchObject({ dispatched: RACES / 2, abandoned: RACES / 2, intended: 0 });
  });
}

function testAgainstHandle(scene: Scene): void {
  test('of handing out and giving up the first one wins, in a thousand races', async () => {
    const ends = await race(scene, async (taskId, index) => {
      const give = () => scene.store.tasks.setHandle(taskId, 'given');
      const stop = () => scene.store.tasks.settle(giveUp(taskId));
      const moves = index % 2 === 0 ? [give, stop] : [stop, give];
      await Promise.all(moves.map((move) => move()));
      const task = await scene.store.tasks.get(ALICE, taskId);
      return `${index % 2} ${task?.phase}`;
    });
    expect(new Set(ends)).toEqual(new Set(['0 working', '1 ended']));
  });
}
