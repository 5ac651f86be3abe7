import { describe, expect, test } from 'vitest';
import {
  freshAttemptId,
  givenClaim,
  givenRunning,
  givenTask,
  LEASE_MS,
  question,
} from './given.ts';
import { settlement, storyOf } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';
import { answerKeys, parkedOn, sleepUntil, statesOf } from './sleepers.ts';

/** Attempts that wait in the store. */
export function describeParking(open: OpenScene): void {
  describe('park', () => {
    const scene = useScene(open);
    testParking(scene);
    testWhatHappenedBefore(scene);
    testRefusing(scene);
  });
  describe('a parked attempt and the rest', () => {
    const scene = useScene(open);
    testBystanders(scene);
  });
  describe('parking in races', () => {
    const scene = useScene(open);
    testRaces(scene);
  });
}

const UPSTREAM = { generation: '2026-07-28', taskId: 'theirs' } as const;

function testParking(scene: Scene): void {
  test('the attempt ends in good order and the next one waits, holding nothing', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    await scene.store.attempts.journalUpstream(fence, UPSTREAM);
    await scene.store.inputs.ask(fence, [question('one')]);
    const nextAttemptId = freshAttemptId();
    const wakeUp = { nextAttemptId, onAnswers: true };
    expect(await scene.store.attempts.park(fence, wakeUp)).toBe(true);
    const [ended, parked, ...others] = await scene.store.attempts.listOf(task.id);
    expect(others).toEqual([]);
    expect(ended).toMatchObject({ id: fence.attemptId, state: 'ended', endReason: 'parked' });
    expect(parked).toEqual({
      id: nextAttemptId,
      taskId: task.id,
      number: 2,
      epoch: fence.epoch,
      state: 'parked',
      upstreamTask: UPSTREAM,
    });
    expect(await scene.store.attempts.extend(fence, LEASE_MS)).toBe(false);
    expect((await storyOf(scene.store, task.id)).at(-1)).toBe('task.parked answers');
  });

  test.each([
    [{ onAnswers: true }, 'answers'],
    [{ onAnswers: false, at: SCENE_START + 5 }, 'time'],
    [{ onAnswers: true, at: SCENE_START + 5 }, 'answers_or_time'],
  ])('the trail says what %j waits for', async (waits, word) => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    await scene.store.attempts.park(fence, { nextAttemptId: freshAttemptId(), ...waits });
    expect((await storyOf(scene.store, task.id)).at(-1)).toBe(`task.parked ${word}`);
  });

  test('what waits for nothing is a mistake', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const wakeUp = { nextAttemptId: freshAttemptId(), onAnswers: false };
    await expect(scene.store.attempts.park(fence, wakeUp)).rejects.toThrow('waits for something');
    expect(await statesOf(scene.store, task.id)).toEqual(['running']);
  });
}

function testWhatHappenedBefore(scene: Scene): void {
  test('an answer that came first is not slept over [Q3]', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    await answerKeys(scene.store, task.id, ['one']);
    const nextAttemptId = freshAttemptId();
    await scene.store.attempts.park(fence, { nextAttemptId, onAnswers: true });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
    expect(await givenClaim(scene.store, task.id)).toMatchObject({ attemptId: nextAttemptId });
  });

  test('nor a time that has come, nor a cancel', async () => {
    const late = await givenRunning(scene.store);
    await sleepUntil(scene.store, late.fence, SCENE_START);
    expect(await statesOf(scene.store, late.task.id)).toEqual(['ended', 'queued']);
    const cancelled = await givenRunning(scene.store);
    await scene.store.tasks.requestCancel(ALICE, cancelled.task.id);
    await sleepUntil(scene.store, cancelled.fence, SCENE_START + 1000);
    expect(await statesOf(scene.store, cancelled.task.id)).toEqual(['ended', 'queued']);
  });

  test('one of two answers is not enough', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one'), question('two')]);
    await answerKeys(scene.store, task.id, ['two']);
    await scene.store.attempts.park(fence, { nextAttemptId: freshAttemptId(), onAnswers: true });
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'parked']);
  });
}

function testRefusing(scene: Scene): void {
  test('who is fenced out parks nothing', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.listOrphaned('boot_two', true);
    const wakeUp = { nextAttemptId: freshAttemptId(), onAnswers: true };
    expect(await scene.store.attempts.park(fence, wakeUp)).toBe(false);
    expect(await statesOf(scene.store, task.id)).toEqual(['running']);
  });

  test('an attempt parks once, and never after the end of its task', async () => {
    const { task, fence } = await parkedOn(scene.store, ['one']);
    const wakeUp = { nextAttemptId: freshAttemptId(), onAnswers: true };
    expect(await scene.store.attempts.park(fence, wakeUp)).toBe(false);
    await scene.store.tasks.settle(settlement(task.id));
    expect(await scene.store.attempts.park(fence, wakeUp)).toBe(false);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'ended']);
  });
}

function testBystanders(scene: Scene): void {
  test('it is not claimed, not counted as queued, and nobody’s orphan', async () => {
    await parkedOn(scene.store, ['one']);
    expect(await scene.store.attempts.queuedCount()).toBe(0);
    const claim = { owner: 'boot_two', leaseMs: LEASE_MS, limit: 10, runningPerTool: {} };
    expect(await scene.store.attempts.claim(claim)).toEqual([]);
    scene.clock.advance(LEASE_MS * 2);
    expect(await scene.store.attempts.listOrphaned('boot_two', true)).toEqual([]);
  });

  test('it takes up no place of its tool', async () => {
    await parkedOn(scene.store, ['one']);
    const next = await givenRunning(scene.store);
    const caps = { runningPerTool: { [next.task.tool]: 2 } };
    await givenTwoQueued(scene);
    const claim = { owner: 'boot_two', leaseMs: LEASE_MS, limit: 10, ...caps };
    expect(await scene.store.attempts.claim(claim)).toHaveLength(1);
  });

  test('it survives the reopening of the store as it is', async () => {
    const { task } = await parkedOn(scene.store, ['one']);
    const sleeper = await givenRunning(scene.store);
    await sleepUntil(scene.store, sleeper.fence, SCENE_START + 1000);
    const before = await scene.store.attempts.listOf(task.id);
    await scene.reopen();
    expect(await scene.store.attempts.listOrphaned('boot_two', true)).toEqual([]);
    expect(await scene.store.attempts.listOf(task.id)).toEqual(before);
    expect(await scene.store.attempts.nextWakeAt()).toBe(SCENE_START + 1000);
    await answerKeys(scene.store, task.id, ['one']);
    expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
  });

  test('once awake it goes before what its principal has asked for later', async () => {
    const { task } = await parkedOn(scene.store, ['one']);
    const later = await givenTwoQueued(scene);
    await answerKeys(scene.store, task.id, ['one']);
    const claim = { owner: 'boot_two', leaseMs: LEASE_MS, limit: 3, runningPerTool: {} };
    const claimed = await scene.store.attempts.claim(claim);
    expect(claimed.map((one) => one.task.id)).toEqual([task.id, ...later]);
  });
}

async function givenTwoQueued(scene: Scene): Promise<readonly string[]> {
  const first = await givenTask(scene.store);
  const second = await givenTask(scene.store);
  return [first.id, second.id];
}

const RACES = 1000;
const AT_ONCE = 50;

function testRaces(scene: Scene): void {
  test('a thousand double answers resume a thousand tasks once each [Q3]', async () => {
    for (let round = 0; round < RACES / AT_ONCE; round += 1) {
      const parked = [];
      for (let count = 0; count < AT_ONCE; count += 1)
        parked.push(await parkedOn(scene.store, ['one']));
      const outcomes = await Promise.all(
        parked.flatMap(({ task }) => [
          answerKeys(scene.store, task.id, ['one']),
          answerKeys(scene.store, task.id, ['one']),
        ]),
      );
      const resumed = outcomes.filter((one) => one.kind === 'taken' && one.resumed);
      expect(resumed).toHaveLength(AT_ONCE);
      expect(await scene.store.attempts.queuedCount()).toBe(AT_ONCE);
      for (const { task } of parked) {
        expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
        await scene.store.tasks.settle(settlement(task.id));
      }
    }
  });

  test('of parking and answering none falls between the other’s steps, in a thousand races', async () => {
    for (let round = 0; round < RACES / AT_ONCE; round += 1) {
      const asked = [];
      for (let count = 0; count < AT_ONCE; count += 1) {
        const running = await givenRunning(scene.store);
        await scene.store.inputs.ask(running.fence, [question('one')]);
        asked.push(running);
      }
      await Promise.all(
        asked.map(async ({ task, fence }, index) => {
          const wakeUp = { nextAttemptId: freshAttemptId(), onAnswers: true };
          const park = () => scene.store.attempts.park(fence, wakeUp);
          const reply = () => answerKeys(scene.store, task.id, ['one']);
          const moves = index % 2 === 0 ? [park, reply] : [reply, park];
          await Promise.all(moves.map((move) => move()));
        }),
      );
      for (const { task } of asked) {
        expect(await statesOf(scene.store, task.id)).toEqual(['ended', 'queued']);
        await scene.store.tasks.settle(settlement(task.id));
      }
    }
  });
}
