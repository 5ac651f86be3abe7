import { describe, expect, test } from 'vitest';
import { begun, effectOf, freshAttemptId, givenClaim, givenEffect, givenRunning } from './given.ts';
import { settlement, storyOf } from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** Effects of handlers: their rows in the ledger, before they are sent and when their call has ended. */
export function describeEffects(open: OpenScene): void {
  describe('dispatchEffect', () => {
    const scene = useScene(open);
    testDispatch(scene);
    testRepeats(scene);
    testSendRaces(scene);
  });
  describe('effects without a receipt', () => {
    const scene = useScene(open);
    testWithoutReceipt(scene);
  });
}

function testDispatch(scene: Scene): void {
  test('an effect is in the ledger as sent, and so are its call and its attempt', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const effect = effectOf(task, 'pay');
    const fact = begun(0, 'pay', effect.id);
    scene.clock.advance(10);
    expect(await scene.store.journal.dispatchEffect(fence, effect, fact)).toBe('written');
    const at = SCENE_START + 10;
    const { id, owner, tenant, upstream, tool } = task;
    expect(await scene.store.operations.get(ALICE, effect.id)).toEqual({
      ...effect,
      owner,
      tenant,
      upstream,
      tool,
      taskId: id,
      state: 'dispatched',
      createdAt: at,
      updatedAt: at,
      dispatchedAt: at,
    });
    const call = await scene.store.operations.get(ALICE, effect.parentId);
    expect(call).toMatchObject({ state: 'dispatched', dispatchedAt: at });
    expect(await scene.store.attempts.listOf(task.id)).toMatchObject([{ dispatchedAt: at }]);
    expect(await scene.store.journal.read(task.id)).toEqual([fact]);
    expect(await storyOf(scene.store, task.id)).toEqual([
      'task.created',
      'operation.moved intended->dispatched',
      'task.dispatched',
      'operation.dispatched',
    ]);
    expect(await scene.store.operations.get(BOB, effect.id)).toBeUndefined();
  });

  test('each further effect has a row of its own; the call stays sent', async () => {
    const { task, fence } = await givenRunning(scene.store);
    for (const [position, name] of ['pay', 'ship'].entries()) {
      scene.clock.advance(10);
      const effect = effectOf(task, name);
      const fact = begun(position, name, effect.id);
      expect(await scene.store.journal.dispatchEffect(fence, effect, fact)).toBe('written');
    }
    const call = await scene.store.operations.get(ALICE, task.operationId ?? '');
    expect(call).toMatchObject({ state: 'dispatched', dispatchedAt: SCENE_START + 10 });
    expect(await scene.store.operations.counts()).toMatchObject({ dispatched: 3 });
  });

  test('a later attempt may send what the earlier one did not', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const pay = effectOf(task, 'pay');
    await scene.store.journal.dispatchEffect(fence, pay, begun(0, 'pay', pay.id));
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    const ship = effectOf(task, 'ship');
    const sent = scene.store.journal.dispatchEffect(next, ship, begun(1, 'ship', ship.id));
    expect(await sent).toBe('written');
    const attempts = await scene.store.attempts.listOf(task.id);
    expect(attempts.map(({ dispatchedAt }) => dispatchedAt)).toEqual([SCENE_START, SCENE_START]);
  });

  test('a fact that is not the effect’s own is a mistake', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const effect = effectOf(task, 'pay');
    const { journal } = scene.store;
    await expect(journal.dispatchEffect(fence, effect, begun(0, 'pay'))).rejects.toThrow('names');
    const foreign = { ...effect, parentId: 'op_other' };
    const fact = begun(0, 'pay', effect.id);
    await expect(journal.dispatchEffect(fence, foreign, fact)).rejects.toThrow('belongs');
    expect(await journal.read(task.id)).toEqual([]);
  });
}

function testRepeats(scene: Scene): void {
  test('an effect is sent once by its name, whatever the attempt', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const effect = effectOf(task, 'pay');
    const { journal } = scene.store;
    await journal.dispatchEffect(fence, effect, begun(0, 'pay', effect.id));
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    const again = effectOf(task, 'pay');
    const fact = begun(1, 'pay', again.id);
    expect(await journal.dispatchEffect(next, again, fact)).toBe('conflict');
    const sameRow = { ...effect, name: 'other' };
    const sameRowFact = begun(1, 'other', effect.id);
    expect(await journal.dispatchEffect(next, sameRow, sameRowFact)).toBe('conflict');
    expect(await journal.read(task.id)).toHaveLength(1);
    expect(await scene.store.operations.get(ALICE, again.id)).toBeUndefined();
    const [, second] = await scene.store.attempts.listOf(task.id);
    expect(second?.dispatchedAt).toBeUndefined();
  });

  test('a conflict of positions sends nothing', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const effect = effectOf(task, 'pay');
    const sent = scene.store.journal.dispatchEffect(fence, effect, begun(1, 'pay', effect.id));
    expect(await sent).toBe('conflict');
    expect(await scene.store.operations.get(ALICE, effect.parentId)).toMatchObject({
      state: 'intended',
    });
    expect(await scene.store.operations.get(ALICE, effect.id)).toBeUndefined();
  });

  test('two calls may each have an effect of the same name', async () => {
    for (let count = 0; count < 2; count += 1) {
      const { task, fence } = await givenRunning(scene.store);
      const effect = effectOf(task, 'pay');
      const sent = scene.store.journal.dispatchEffect(fence, effect, begun(0, 'pay', effect.id));
      expect(await sent).toBe('written');
    }
  });

  test('a call that was answered already sends nothing more', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    const answered = { operationId: task.operationId ?? '', end: 'answered', reason: 'x' } as const;
    await scene.store.operations.addEvidence(answered);
    const effect = effectOf(task, 'pay');
    const sent = scene.store.journal.dispatchEffect(fence, effect, begun(0, 'pay', effect.id));
    expect(await sent).toBe('fenced');
    expect(await scene.store.operations.get(ALICE, effect.id)).toBeUndefined();
  });
}

function testWithoutReceipt(scene: Scene): void {
  test('what has no receipt when its task ends is unknown, also in a call that succeeded', async () => {
    const { task, fence, effect } = await givenEffect(scene.store);
    const done = effectOf(task, 'ship');
    await scene.store.journal.dispatchEffect(fence, done, begun(1, 'ship', done.id));
    const receipt = { operationId: done.id, end: 'answered', reason: 'answered' } as const;
    await scene.store.journal.recordReceipt(receipt);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    const { operations } = scene.store;
    expect(await operations.get(ALICE, effect.id)).toMatchObject({
      state: 'unknown',
      reason: 'no_receipt',
    });
    expect(await operations.get(ALICE, done.id)).toMatchObject({ state: 'acknowledged' });
    expect(await operations.get(ALICE, effect.parentId)).toMatchObject({ state: 'acknowledged' });
  });
}

const RACES = 1000;
const AT_ONCE = 50;

function testSendRaces(scene: Scene): void {
  test('of two sends of one effect one is sent, in a thousand races', async () => {
    const { task, fence } = await givenRunning(scene.store);
    for (let round = 0; round < RACES / AT_ONCE; round += 1) {
      const sends = Array.from({ length: AT_ONCE }, () => {
        const effect = effectOf(task, `effect ${round}`);
        const fact = begun(round, effect.name, effect.id);
        return scene.store.journal.dispatchEffect(fence, effect, fact);
      });
      const sent = (await Promise.all(sends)).filter((each) => each === 'written');
      expect(sent).toHaveLength(1);
    }
    const { dispatched } = await scene.store.operations.counts();
    expect(dispatched).toBe(1 + RACES / AT_ONCE);
  });
}
