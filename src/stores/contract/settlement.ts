import { describe, expect, test } from 'vitest';
import type { CallEnd, OperationState } from '../../ledger/operation.ts';
import type { Outcome, TaskEnding } from '../../protocol/model.ts';
import { answerTo, freshAttemptId, givenClaim, givenRunning, givenTask } from './given.ts';
import { question, RESULT, settlement, storyOf } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

export function describeSettlement(open: OpenScene): void {
  describe('settle', () => {
    const scene = useScene(open);
    testEndings(scene);
    testWhatEndsWithTheTask(scene);
    testLateOutcomes(scene);
    testFencedOutcomes(scene);
    testOperationMoves(scene);
    testRaces(scene);
  });
}

const FAILURE: Outcome = { kind: 'error', error: { code: -32603, message: 'no', data: { a: 1 } } };
const ENDINGS: readonly (readonly [TaskEnding, Outcome])[] = [
  ['result', RESULT],
  ['tool_error', { kind: 'result', result: { content: [], isError: true } }],
  ['error', FAILURE],
  ['cancelled', { kind: 'cancelled' }],
];

function testEndings(scene: Scene): void {
  test.each(ENDINGS)('an outcome that is a %s ends the task', async (ending, outcome) => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.tasks.setMessage(fence, 'early words');
    expect(await scene.store.tasks.outcome(ALICE, task.id)).toBeUndefined();
    scene.clock.advance(10);
    const params = settlement(task.id, { fence, outcome, message: 'last words' });
    const ended = {
      ...task,
      phase: 'ended',
      ending,
      message: 'last words',
      updatedAt: SCENE_START + 10,
      revision: 3,
    };
    expect(await scene.store.tasks.settle(params)).toEqual({ kind: 'settled', task: ended });
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(ended);
    expect(await scene.store.tasks.outcome(ALICE, task.id)).toEqual(outcome);
  });

  test('no message of the run survives a settlement without one', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.tasks.setMessage(fence, 'early words');
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect((await scene.store.tasks.get(ALICE, task.id))?.message).toBeUndefined();
  });

  test('a task that nobody has claimed can be settled', async () => {
    const task = await givenTask(scene.store);
    const params = settlement(task.id, { outcome: { kind: 'cancelled' }, callEnd: 'cancelled' });
    expect(await scene.store.tasks.settle(params)).toMatchObject({ kind: 'settled' });
    expect(await scene.store.attempts.queuedCount()).toBe(0);
    expect(await scene.store.tasks.settle(settlement('tsk_none'))).toEqual({ kind: 'missing' });
  });
}

function testWhatEndsWithTheTask(scene: Scene): void {
  test('the attempt ends and its fence is worth nothing', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.attempts.listOf(task.id)).toMatchObject([{ state: 'ended' }]);
    expect(await scene.store.attempts.extend(fence, 1000)).toBe(false);
    expect(await scene.store.attempts.markDispatched(fence)).toBe(false);
    expect(await scene.store.attempts.requeue(fence, freshAttemptId(), 'again')).toBe(false);
  });

  test('open questions are withdrawn and no answered value is kept', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one'), question('two')]);
    await scene.store.inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('one')] });
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toBeDefined();
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toEqual([]);
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toBeUndefined();
    scene.clock.advance(20_000);
    expect(await scene.store.inputs.listDue(10)).toEqual([]);
  });

  test('the story is told in events', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await storyOf(scene.store, task.id)).toEqual([
      'task.created',
      'operation.moved intended->dispatched',
      'task.dispatched',
      'operation.moved dispatched->acknowledged',
      'task.settled answered',
    ]);
  });
}

function testLateOutcomes(scene: Scene): void {
  test('the second outcome is late and leaves the record as it is', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    const outcome: Outcome = { kind: 'cancelled' };
    const cancel = settlement(task.id, { outcome, callEnd: 'cancelled', reason: 'cancelled' });
    await scene.store.tasks.settle(cancel);
    const before = await scene.store.tasks.get(ALICE, task.id);
    scene.clock.advance(10);
    const late = await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(late).toEqual({ kind: 'late', task: before });
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(before);
    expect(await scene.store.tasks.outcome(ALICE, task.id)).toEqual(outcome);
  });

  test('a late answer is evidence for the operation', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    const lost = { outcome: FAILURE, callEnd: 'lost', reason: 'lost' } as const;
    await scene.store.tasks.settle(settlement(task.id, lost));
    const operation = () => scene.store.operations.get(ALICE, task.operationId ?? '');
    expect(await operation()).toMatchObject({ state: 'unknown', reason: 'lost' });
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await operation()).toMatchObject({ state: 'acknowledged', reason: 'late_answer' });
    expect((await storyOf(scene.store, task.id)).slice(-2)).toEqual([
      'operation.moved unknown->acknowledged',
      'task.late_outcome late_answer',
    ]);
  });

  test('an outcome for a record that was swept still reaches its operation', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    const lost = { outcome: FAILURE, callEnd: 'lost', reason: 'lost' } as const;
    await scene.store.tasks.settle(settlement(task.id, lost));
    scene.clock.advance(task.ttlMs);
    expect(await scene.store.tasks.sweepExpired(10)).toBe(1);
    expect(await scene.store.tasks.settle(settlement(task.id))).toEqual({ kind: 'missing' });
    const operation = await scene.store.operations.get(ALICE, task.operationId ?? '');
    expect(operation).toMatchObject({ state: 'acknowledged', reason: 'late_answer' });
  });
}

function testFencedOutcomes(scene: Scene): void {
  test('an attempt that is fenced out settles nothing while the next one runs', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    const late = settlement(task.id, { fence, outcome: FAILURE, callEnd: 'lost', reason: 'lost' });
    expect(await scene.store.tasks.settle(late)).toMatchObject({
      kind: 'late',
      task: { phase: 'working' },
    });
    const operation = await scene.store.operations.get(ALICE, task.operationId ?? '');
    expect(operation).toMatchObject({ state: 'intended' });
    expect(await scene.store.tasks.settle(settlement(task.id, { fence: next }))).toMatchObject({
      kind: 'settled',
    });
  });

  test('of an attempt that is fenced out only an answer is news, while the next one runs', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    await givenClaim(scene.store, task.id);
    const stateAfter = async (callEnd: CallEnd) => {
      await scene.store.tasks.settle(settlement(task.id, { fence, callEnd, reason: callEnd }));
      return (await scene.store.operations.get(ALICE, task.operationId ?? ''))?.state;
    };
    expect(await stateAfter('lost')).toBe('dispatched');
    expect(await stateAfter('answered')).toBe('acknowledged');
    expect(await scene.store.tasks.get(ALICE, task.id)).toMatchObject({ phase: 'working' });
    await scene.store.tasks.settle(settlement(task.id, { callEnd: 'lost', reason: 'lost' }));
    expect(await scene.store.operations.get(ALICE, task.operationId ?? '')).toMatchObject({
      state: 'acknowledged',
      reason: 'late_answer',
    });
  });
}

const AFTER_CALL: readonly (readonly [CallEnd, OperationState])[] = [
  ['answered', 'acknowledged'],
  ['tool_error', 'unknown'],
  ['error', 'unknown'],
  ['lost', 'unknown'],
  ['cancelled', 'unknown'],
  ['run_limit', 'unknown'],
];

function testOperationMoves(scene: Scene): void {
  test.each(AFTER_CALL)('a call that was sent and %s is %s', async (callEnd, state) => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    scene.clock.advance(10);
    await scene.store.tasks.settle(settlement(task.id, { fence, callEnd, reason: callEnd }));
    expect(await scene.store.operations.get(ALICE, task.operationId ?? '')).toMatchObject({
      state,
      reason: callEnd,
      dispatchedAt: SCENE_START,
      updatedAt: SCENE_START + 10,
    });
  });

  test.each(AFTER_CALL)('a call that was never sent and %s is abandoned', async (callEnd) => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.tasks.settle(settlement(task.id, { fence, callEnd, reason: callEnd }));
    const operation = await scene.store.operations.get(ALICE, task.operationId ?? '');
    expect(operation).toMatchObject({ state: 'abandoned', reason: callEnd });
    expect(operation?.dispatchedAt).toBeUndefined();
  });
}

const RACES = 1000;

function testRaces(scene: Scene): void {
  test('of completion and cancel one wins, in a thousand races', async () => {
    const cancelled = { outcome: { kind: 'cancelled' }, callEnd: 'cancelled' } as const;
    let cancels = 0;
    for (let race = 0; race < RACES / 50; race += 1) {
      const tasks = await Promise.all(Array.from({ length: 50 }, () => givenTask(scene.store)));
      await givenClaim(scene.store, tasks[0]?.id ?? '');
      const ends = await Promise.all(
        tasks.map(async ({ id }, index) => {
          const [attempt] = await scene.store.attempts.listOf(id);
          const fence = { taskId: id, attemptId: attempt?.id ?? '', epoch: attempt?.epoch ?? 0 };
          const moves = [settlement(id, { fence }), settlement(id, cancelled)];
          const order = index % 2 === 0 ? moves : moves.toReversed();
          const settled = await Promise.all(order.map((move) => scene.store.tasks.settle(move)));
          return { id, winners: settled.filter(({ kind }) => kind === 'settled') };
        }),
      );
      for (const { id, winners } of ends) {
        expect(winners).toHaveLength(1);
        const task = await scene.store.tasks.get(ALICE, id);
        expect(winners).toEqual([{ kind: 'settled', task }]);
        const outcome = await scene.store.tasks.outcome(ALICE, id);
        expect(outcome).toEqual(task?.ending === 'cancelled' ? cancelled.outcome : RESULT);
        cancels += Number(task?.ending === 'cancelled');
      }
    }
    expect(cancels).toBe(RACES / 2);
  });
}
