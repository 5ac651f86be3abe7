import { describe, expect, test } from 'vitest';
import type { Fence } from '../attempts.ts';
import type { JournalFact } from '../journal.ts';
import { describeEffects } from './effects.ts';
import { describeFirstSteps } from './first-steps.ts';
import { answerTo, begun, effectOf, ended, freshAttemptId, givenClaim } from './given.ts';
import { givenRunning, question, settlement } from './given.ts';
import { ALICE } from './people.ts';
import { describeReceipts } from './receipts.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

/** The contract of JournalStore. */
export function describeJournal(open: OpenScene): void {
  describe('JournalStore', () => {
    const scene = useScene(open);
    describe('append and read', () => {
      testFacts(scene);
      testOrder(scene);
      testFences(scene);
      testLife(scene);
    });
    describeFirstSteps(open);
    describeEffects(open);
    describeReceipts(open);
    describe('consumeAnswer', () => {
      testConsuming(scene);
    });
    describe('append in races', () => {
      testRaces(scene);
    });
  });
}

const JOURNAL: readonly JournalFact[] = [
  { type: 'begun', position: 0, name: 'fetch', kind: 'step' },
  { type: 'ended', position: 1, of: 0, value: { rows: [1, 2, null], text: '\u0000"\u2028' } },
  { type: 'begun', position: 2, name: 'who', kind: 'ask', note: { keys: ['in_a'] } },
  { type: 'begun', position: 3, name: 'nap', kind: 'sleep', note: 17 },
  { type: 'ended', position: 4, of: 3 },
  { type: 'ended', position: 5, of: 2, value: null },
  { type: 'begun', position: 6, name: 'card', kind: 'secret' },
  { type: 'ended', position: 7, of: 6, error: { code: -32603, message: 'no', data: [1] } },
];

function testFacts(scene: Scene): void {
  test('facts come back as they were written, in order of position', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.journal.read(task.id)).toEqual([]);
    expect(await scene.store.journal.append(fence, JOURNAL.slice(0, 3))).toBe('written');
    expect(await scene.store.journal.append(fence, JOURNAL.slice(3))).toBe('written');
    expect(await scene.store.journal.read(task.id)).toEqual(JOURNAL);
    await scene.reopen();
    expect(await scene.store.journal.read(task.id)).toEqual(JOURNAL);
  });

  test('journals of different tasks know nothing of each other', async () => {
    const one = await givenRunning(scene.store);
    const two = await givenRunning(scene.store);
    await scene.store.journal.append(one.fence, [begun(0, 'a')]);
    expect(await scene.store.journal.append(two.fence, [begun(0, 'b')])).toBe('written');
    expect(await scene.store.journal.read(one.task.id)).toEqual([begun(0, 'a')]);
    expect(await scene.store.journal.read(two.task.id)).toEqual([begun(0, 'b')]);
  });

  test('nothing is a valid thing to append, to whom the fence belongs', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.journal.append(fence, [])).toBe('written');
    await scene.store.tasks.settle(settlement(task.id));
    expect(await scene.store.journal.append(fence, [])).toBe('fenced');
  });

  test('the next attempt goes on where the last one stopped', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.journal.append(fence, [begun(0, 'a'), ended(1, 0)]);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    expect(await scene.store.journal.append(next, [begun(2, 'b')])).toBe('written');
    expect(await scene.store.journal.read(task.id)).toHaveLength(3);
  });
}

/** After one fact that began and one that began and ended. */
const CONFLICTS: readonly (readonly [what: string, facts: readonly JournalFact[]])[] = [
  ['a position that is taken', [begun(2, 'x')]],
  ['a position that leaves a gap', [begun(4, 'x')]],
  ['a negative position', [begun(-1, 'x')]],
  ['a gap inside', [begun(3, 'x'), begun(5, 'y')]],
  ['two at one position', [begun(3, 'x'), begun(3, 'y')]],
  ['the wrong order', [begun(4, 'x'), begun(3, 'y')]],
  ['an end of what never began', [ended(3, 9)]],
  ['an end of what began later', [ended(3, 4), begun(4, 'x')]],
  ['an end of an end', [ended(3, 2)]],
  ['a second end', [ended(3, 1)]],
  ['two ends of one', [ended(3, 0), ended(4, 0)]],
  ['an end of itself', [ended(3, 3)]],
];

function testOrder(scene: Scene): void {
  test.each(CONFLICTS)('%s is a conflict, and nothing of it is written', async (_what, facts) => {
    const { task, fence } = await givenRunning(scene.store);
    const before = [begun(0, 'a'), begun(1, 'b'), ended(2, 1)];
    await scene.store.journal.append(fence, before);
    expect(await scene.store.journal.append(fence, facts)).toBe('conflict');
    expect(await scene.store.journal.read(task.id)).toEqual(before);
    expect(await scene.store.journal.append(fence, [ended(3, 0)])).toBe('written');
  });

  test('what begins and ends in one append fits', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const facts = [begun(0, 'a'), begun(1, 'b'), ended(2, 0), ended(3, 1)];
    expect(await scene.store.journal.append(fence, facts)).toBe('written');
    expect(await scene.store.journal.read(task.id)).toEqual(facts);
  });
}

function testFences(scene: Scene): void {
  test('who is fenced out writes nothing, whatever the position', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    await scene.store.inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('one')] });
    await scene.store.attempts.listOrphaned('boot_two', true);
    const { journal } = scene.store;
    const effect = effectOf(task, 'pay');
    expect(await journal.append(fence, [begun(0, 'a')])).toBe('fenced');
    expect(await journal.append(fence, [begun(7, 'a')])).toBe('fenced');
    expect(await journal.dispatchEffect(fence, effect, begun(0, 'pay', effect.id))).toBe('fenced');
    expect(await journal.consumeAnswer(fence, 'one', begun(0, 'a'))).toBe('fenced');
    expect(await journal.read(task.id)).toEqual([]);
    expect(await scene.store.operations.get(ALICE, effect.id)).toBeUndefined();
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toBeDefined();
  });

  test('neither does an attempt that has parked or whose task has ended', async () => {
    const parked = await givenRunning(scene.store);
    await scene.store.inputs.ask(parked.fence, [question('one')]);
    const wakeUp = { nextAttemptId: freshAttemptId(), onAnswers: true };
    await scene.store.attempts.park(parked.fence, wakeUp);
    expect(await scene.store.journal.append(parked.fence, [begun(0, 'a')])).toBe('fenced');
    const over = await givenRunning(scene.store);
    await scene.store.tasks.settle(settlement(over.task.id));
    expect(await scene.store.journal.append(over.fence, [begun(0, 'a')])).toBe('fenced');
    const nobody: Fence = { taskId: 'tsk_none', attemptId: 'att_none', epoch: 1 };
    expect(await scene.store.journal.append(nobody, [begun(0, 'a')])).toBe('fenced');
  });
}

function testLife(scene: Scene): void {
  test('facts go with the record of their task, the ledger stays', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const effect = effectOf(task, 'pay');
    await scene.store.journal.append(fence, [begun(0, 'a'), ended(1, 0)]);
    await scene.store.journal.dispatchEffect(fence, effect, begun(2, 'pay', effect.id));
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.journal.read(task.id)).toHaveLength(3);
    scene.clock.advance(task.ttlMs);
    expect(await scene.store.tasks.sweepExpired(10)).toBe(1);
    expect(await scene.store.journal.read(task.id)).toEqual([]);
    expect(await scene.store.operations.get(ALICE, effect.id)).toMatchObject({ taskId: task.id });
    expect((await scene.store.check()).ok).toBe(true);
  });

  test('a journal that is too long for one sweep goes in several, and its record last', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const facts = Array.from({ length: 2_500 }, (_, position) => begun(position, 'step'));
    await scene.store.journal.append(fence, facts);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    scene.clock.advance(task.ttlMs);
    const swept: number[] = [];
    for (let sweeps = 0; sweeps < 3; sweeps += 1)
      swept.push(await scene.store.tasks.sweepExpired(10));
    expect(swept.reduce((all, one) => all + one)).toBe(1);
    expect(swept.at(-1)).toBe(0);
    expect(await scene.store.journal.read(task.id)).toEqual([]);
  });

  test('a question and the fact that it was asked are one write', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const facts: readonly JournalFact[] = [
      { type: 'begun', position: 0, name: 'who', kind: 'ask', note: { keys: ['one'] } },
    ];
    const asked = await scene.store.inputs.ask(fence, [question('one')], facts);
    expect(asked.kind).toBe('asked');
    expect(await scene.store.journal.read(task.id)).toEqual(facts);
    const again = await scene.store.inputs.ask(fence, [question('two')], facts);
    expect(again).toEqual({ kind: 'refused', reason: 'conflict' });
    const reused = await scene.store.inputs.ask(fence, [question('one')], [begun(1, 'x')]);
    expect(reused).toEqual({ kind: 'refused', reason: 'key_reused' });
    expect(await scene.store.journal.read(task.id)).toEqual(facts);
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toHaveLength(1);
  });
}

function testConsuming(scene: Scene): void {
  test('the answer is gone when its use is written, and can be used once', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one'), question('two')]);
    const answers = [answerTo('one'), answerTo('two')];
    await scene.store.inputs.answer(ALICE, { taskId: task.id, answers });
    const { journal, inputs } = scene.store;
    expect(await journal.consumeAnswer(fence, 'one', begun(1, 'use'))).toBe('conflict');
    expect(await inputs.answerOf(task.id, 'one')).toBeDefined();
    expect(await journal.consumeAnswer(fence, 'one', begun(0, 'use'))).toBe('written');
    expect(await inputs.answerOf(task.id, 'one')).toBeUndefined();
    expect(await inputs.answerOf(task.id, 'two')).toBeDefined();
    expect((await inputs.find(task.id, 'one'))?.input.state).toBe('answered');
    expect(await journal.consumeAnswer(fence, 'one', begun(1, 'use'))).toBe('conflict');
    expect(await journal.read(task.id)).toEqual([begun(0, 'use')]);
  });

  test('what was not answered cannot be consumed', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    const { journal } = scene.store;
    expect(await journal.consumeAnswer(fence, 'one', begun(0, 'use'))).toBe('conflict');
    expect(await journal.consumeAnswer(fence, 'none', begun(0, 'use'))).toBe('conflict');
    expect(await journal.read(task.id)).toEqual([]);
  });
}

const RACES = 1000;
const AT_ONCE = 50;

function testRaces(scene: Scene): void {
  test('of two runs at one position one writes, in a thousand races', async () => {
    const { task, fence } = await givenRunning(scene.store);
    for (let round = 0; round < RACES / AT_ONCE; round += 1) {
      const writes = Array.from({ length: AT_ONCE }, (_, index) =>
        scene.store.journal.append(fence, [begun(round, `run ${index}`)]),
      );
      const won = (await Promise.all(writes)).filter((each) => each === 'written');
      expect(won).toHaveLength(1);
    }
    const facts = await scene.store.journal.read(task.id);
    expect(facts.map(({ position }) => position)).toEqual(facts.map((_, index) => index));
  });
}
