import { describe, expect, test } from 'vitest';
import type { JournalFact } from '../journal.ts';
import { begun, ended, freshAttemptId, givenClaim, givenRunning } from './given.ts';
import { settlement, storyOf } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** A step may do anything: from its first one on, a call that is no read counts as sent. */
export function describeFirstSteps(open: OpenScene): void {
  describe('the first step of a call', () => {
    const scene = useScene(open);
    testSending(scene);
    testNotSending(scene);
    testLaterAttempts(scene);
  });
}

const callOf = ({ store }: Scene, operationId: string | undefined) =>
  store.operations.get(ALICE, operationId ?? '');

const SECRET: JournalFact = { type: 'begun', position: 0, name: 'card', kind: 'secret' };
const WAITS: readonly JournalFact[] = [
  { type: 'begun', position: 0, name: 'who', kind: 'ask', note: { keys: {} } },
  { type: 'begun', position: 1, name: 'nap', kind: 'sleep', note: { at: 1 } },
  { type: 'begun', position: 2, name: 'refused', kind: 'effect' },
  ended(3, 1),
];

function testSending(scene: Scene): void {
  test.each([
    ['a step', begun(0, 'deploy')],
    ['a step that sees a secret', SECRET],
  ])('%s dispatches the call and its attempt with its fact', async (_what, fact) => {
    const { task, fence } = await givenRunning(scene.store);
    scene.clock.advance(10);
    expect(await scene.store.journal.append(fence, [fact])).toBe('written');
    const dispatchedAt = SCENE_START + 10;
    const call = { state: 'dispatched', dispatchedAt };
    expect(await callOf(scene, task.operationId)).toMatchObject(call);
    expect(await scene.store.attempts.listOf(task.id)).toMatchObject([{ dispatchedAt }]);
    expect(await storyOf(scene.store, task.id)).toEqual([
      'task.created',
      'operation.moved intended->dispatched',
      'task.dispatched',
    ]);
    await scene.reopen();
    expect(await callOf(scene, task.operationId)).toMatchObject(call);
  });

  test.each([
    ['answered', 'acknowledged'],
    ['tool_error', 'unknown'],
    ['lost', 'unknown'],
    ['cancelled', 'unknown'],
    ['run_limit', 'unknown'],
  ] as const)('a call of finished steps that is %s ends as %s', async (callEnd, state) => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.journal.append(fence, [begun(0, 'deploy'), ended(1, 0)]);
    await scene.store.tasks.settle(settlement(task.id, { fence, callEnd }));
    expect(await callOf(scene, task.operationId)).toMatchObject({ state });
  });
}

function testNotSending(scene: Scene): void {
  test('waiting, and what was refused, sends nothing', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.journal.append(fence, WAITS)).toBe('written');
    expect(await callOf(scene, task.operationId)).toMatchObject({ state: 'intended' });
    const [attempt] = await scene.store.attempts.listOf(task.id);
    expect(attempt?.dispatchedAt).toBeUndefined();
  });

  test('neither does a fact that is not written', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.journal.append(fence, [begun(1, 'deploy')])).toBe('conflict');
    const stale = { ...fence, epoch: fence.epoch - 1 };
    expect(await scene.store.journal.append(stale, [begun(0, 'deploy')])).toBe('fenced');
    expect(await callOf(scene, task.operationId)).toMatchObject({ state: 'intended' });
  });
}

function testLaterAttempts(scene: Scene): void {
  test('a later attempt begins its own steps, and the call stays what it is by then', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const { journal, operations, attempts } = scene.store;
    await journal.append(fence, [begun(0, 'build'), ended(1, 0)]);
    await attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    scene.clock.advance(10);
    const operationId = task.operationId ?? '';
    await operations.addEvidence({ operationId, end: 'answered', reason: 'late' });
    expect(await journal.append(next, [begun(2, 'deploy')])).toBe('written');
    const call = { state: 'acknowledged', dispatchedAt: SCENE_START };
    expect(await callOf(scene, task.operationId)).toMatchObject(call);
    const marks = (await attempts.listOf(task.id)).map(({ dispatchedAt }) => dispatchedAt);
    expect(marks).toEqual([SCENE_START, SCENE_START + 10]);
  });
}
