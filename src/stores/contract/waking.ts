import { describe, expect, test } from 'vitest';
import { answerTo, freshAttemptId, givenClaim, givenRunning, pageQuestion } from './given.ts';
import { question, settlement, storyOf } from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';
import { answerKeys, askedAndParked, parkedOn, sleepUntil, statesOf } from './sleepers.ts';

/** What wakes an attempt that is parked. */
export function describeWaking(open: OpenScene): void {
  describe('waking', () => {
    const scene = useScene(open);
    testAnswers(scene);
    testClosing(scene);
    testTime(scene);
    testStopping(scene);
  });
}

function testAnswers(scene: Scene): void {
  test('the last answer queues it, once [Q3]', async () => {
    const { task } = await parkedOn(scene.store, ['one', 'two']);
    expect(await answerKeys(scene.store, task.id, ['one'])).toMatchObject({ resumed: false });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'parked']);
    expect(await answerKeys(scene.store, task.id, ['two'])).toMatchObject({ resumed: true });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
    expect(await answerKeys(scene.store, task.id, ['two'])).toMatchObject({ resumed: false });
    const woken = (await storyOf(scene.store, task.id)).filter((line) => line.includes('woken'));
    expect(woken).toEqual(['task.woken answers']);
  });

  test('each round parks and wakes anew', async () => {
    const { task } = await parkedOn(scene.store, ['one']);
    await answerKeys(scene.store, task.id, ['one']);
    const fence = await givenClaim(scene.store, task.id);
    await scene.store.inputs.ask(fence, [question('two')]);
    await scene.store.attempts.park(fence, { nextAttemptId: freshAttemptId(), onAnswers: true });
    expect(await answerKeys(scene.store, task.id, ['one'])).toMatchObject({ ignored: ['one'] });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'ended', 'parked']);
    await answerKeys(scene.store, task.id, ['two']);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'ended', 'queued']);
  });

  test('the answer of a stranger wakes nobody', async () => {
    const { task } = await parkedOn(scene.store, ['one']);
    const answers = [answerTo('one')];
    const foreign = await scene.store.inputs.answer(BOB, { taskId: task.id, answers });
    expect(foreign).toEqual({ kind: 'missing' });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'parked']);
  });

  test('answers do not wake who waits for a time', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    await sleepUntil(scene.store, fence, SCENE_START + 1000);
    await answerKeys(scene.store, task.id, ['one']);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'parked']);
  });
}

function testClosing(scene: Scene): void {
  test.each(['expired', 'upstream_withdrew'] as const)(
    'the last question that is %s queues it too',
    async (reason) => {
      const { task } = await parkedOn(scene.store, ['one', 'two']);
      await answerKeys(scene.store, task.id, ['one']);
      await scene.store.inputs.withdraw(task.id, ['two'], reason);
      expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
    },
  );

  test('while a page has to confirm it sleeps on, and the page wakes it', async () => {
    const { task } = await askedAndParked(scene.store, [pageQuestion('page', 'hash')]);
    const opened = await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    expect(opened).toMatchObject({ phase: 'working' });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'parked']);
    const confirmed = await scene.store.inputs.confirm(ALICE, 'hash', answerTo('page').answer);
    expect(confirmed).toMatchObject({ kind: 'taken', resumed: true });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
  });

  test('a page that never confirms wakes it when its time is up', async () => {
    const { task } = await askedAndParked(scene.store, [pageQuestion('page', 'hash')]);
    await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    await scene.store.inputs.withdraw(task.id, ['page'], 'expired');
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
  });
}

function testTime(scene: Scene): void {
  test('its time queues it, not a millisecond earlier', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await sleepUntil(scene.store, fence, SCENE_START + 1000);
    expect(await scene.store.attempts.nextWakeAt()).toBe(SCENE_START + 1000);
    scene.clock.advance(999);
    expect(await scene.store.attempts.wakeDue(10)).toBe(0);
    scene.clock.advance(1);
    expect(await scene.store.attempts.wakeDue(10)).toBe(1);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
    expect((await storyOf(scene.store, task.id)).at(-1)).toBe('task.woken time');
    expect(await scene.store.attempts.wakeDue(10)).toBe(0);
    expect(await scene.store.attempts.nextWakeAt()).toBeUndefined();
  });

  test('those longest due come first, no more than asked for', async () => {
    const sleepers = [];
    for (const at of [30, 10, 20]) {
      const { task, fence } = await givenRunning(scene.store);
      await sleepUntil(scene.store, fence, SCENE_START + at);
      sleepers.push(task.id);
    }
    expect(await scene.store.attempts.nextWakeAt()).toBe(SCENE_START + 10);
    scene.clock.advance(1000);
    expect(await scene.store.attempts.wakeDue(2)).toBe(2);
    const states = await Promise.all(sleepers.map((id) => statesOf(scene.store, id)));
    expect(states.map((each) => each.at(-1))).toEqual(['parked', 'queued', 'queued']);
    expect(await scene.store.attempts.nextWakeAt()).toBe(SCENE_START + 30);
  });

  test('whichever comes first wakes it, and the other one no more', async () => {
    const both = (at: number) => ({ nextAttemptId: freshAttemptId(), onAnswers: true, at });
    const first = await givenRunning(scene.store);
    await scene.store.inputs.ask(first.fence, [question('one')]);
    await scene.store.attempts.park(first.fence, both(SCENE_START + 100));
    const second = await givenRunning(scene.store);
    await scene.store.inputs.ask(second.fence, [question('one')]);
    await scene.store.attempts.park(second.fence, both(SCENE_START + 100));
    await answerKeys(scene.store, first.task.id, ['one']);
    scene.clock.advance(100);
    expect(await scene.store.attempts.wakeDue(10)).toBe(1);
    await answerKeys(scene.store, second.task.id, ['one']);
    for (const { task } of [first, second]) {
      expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
      const story = await storyOf(scene.store, task.id);
      expect(story.filter((line) => line.startsWith('task.woken'))).toHaveLength(1);
    }
  });
}

function testStopping(scene: Scene): void {
  test('a cancel queues it, so that it can stop', async () => {
    const { task } = await parkedOn(scene.store, ['one']);
    await scene.store.tasks.requestCancel(ALICE, task.id);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
    expect((await storyOf(scene.store, task.id)).at(-1)).toBe('task.woken cancel');
    await scene.store.tasks.requestCancel(ALICE, task.id);
    await answerKeys(scene.store, task.id, ['one']);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
  });

  test('the cancel of a stranger does not', async () => {
    const { task } = await parkedOn(scene.store, ['one']);
    await scene.store.tasks.requestCancel(BOB, task.id);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'parked']);
  });

  test('it ends with its task and is never queued again', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    const wakeUp = { nextAttemptId: freshAttemptId(), onAnswers: true, at: SCENE_START + 10 };
    await scene.store.attempts.park(fence, wakeUp);
    await scene.store.tasks.settle(settlement(task.id, { reason: 'cancelled' }));
    const [, parked] = await scene.store.attempts.listOf(task.id);
    expect(parked).toMatchObject({ state: 'ended', endReason: 'cancelled' });
    scene.clock.advance(1000);
    expect(await scene.store.attempts.wakeDue(10)).toBe(0);
    expect(await answerKeys(scene.store, task.id, ['one'])).toMatchObject({ resumed: false });
    expect(await scene.store.attempts.queuedCount()).toBe(0);
  });
}
