import { describe, expect, test } from 'vitest';
import type { InputPolicy } from '../../protocol/model.ts';
import { answerTo, givenRunning, pageQuestion, question, storyOf } from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

const policy: InputPolicy = {
  fields: { name: 'personal' },
  answerableByModel: [],
  onExpiry: 'default',
  defaultContent: {},
  approval: false,
};

/** What the store says about questions while they are open, and of their time. */
export function describeOpenQuestions(open: OpenScene): void {
  describe('open questions', () => {
    const scene = useScene(open);
    testListing(scene);
    testTime(scene);
    testWords(scene);
  });
}

function testListing(scene: Scene): void {
  test('are listed with those whose page is open, to nobody else, until they are closed', async () => {
    const { inputs } = scene.store;
    const { task, fence } = await givenRunning(scene.store);
    await inputs.ask(fence, [question('form'), pageQuestion('page', 'hash')]);
    await inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    const states = async (as: typeof ALICE | 'system') =>
      (await inputs.listOpen(as, task.id)).map(({ key, state }) => `${key} ${state}`);
    expect(await states(ALICE)).toEqual(['form pending', 'page confirming']);
    expect(await states('system')).toEqual(await states(ALICE));
    expect(await states(BOB)).toEqual([]);
    await inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('form')] });
    await inputs.withdraw(task.id, ['page'], 'upstream_withdrew');
    expect(await states('system')).toEqual([]);
  });

  test('are counted by policy', async () => {
    const { inputs } = scene.store;
    const { task, fence } = await givenRunning(scene.store);
    const other = await givenRunning(scene.store);
    await inputs.ask(fence, [
      { ...question('one'), policy },
      { ...question('two'), policy },
      question('bare'),
    ]);
    await inputs.ask(other.fence, [{ ...question('one'), policy }]);
    const counts = await inputs.countOpen();
    expect(counts).toHaveLength(2);
    expect(counts).toContainEqual({ count: 1 });
    expect(counts).toContainEqual({ count: 3, policy });
    await inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('one'), answerTo('bare')] });
    expect(await inputs.countOpen()).toEqual([{ count: 2, policy }]);
  });
}

function testTime(scene: Scene): void {
  test('the time that one is open counts once, however many there are', async () => {
    const { inputs } = scene.store;
    const { task, fence } = await givenRunning(scene.store);
    expect(await inputs.openTimeMs(task.id)).toBe(0);
    await inputs.ask(fence, [question('one')]);
    scene.clock.advance(100);
    await inputs.ask(fence, [question('two'), question('three')]);
    scene.clock.advance(100);
    await inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('one'), answerTo('two')] });
    expect(await inputs.openTimeMs(task.id)).toBe(200);
    scene.clock.advance(100);
    expect(await inputs.openTimeMs(task.id)).toBe(300);
    await inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('three')] });
    scene.clock.advance(1000);
    await inputs.ask(fence, [question('four')]);
    scene.clock.advance(7);
    expect(await inputs.openTimeMs(task.id)).toBe(307);
  });
}

function testWords(scene: Scene): void {
  test('an open page is the status until it has spoken or its time is up', async () => {
    const { inputs, tasks } = scene.store;
    const message = async (id: string) => (await tasks.get(ALICE, id))?.message;
    for (const end of ['confirm', 'expire'] as const) {
      const { task, fence } = await givenRunning(scene.store);
      await inputs.ask(fence, [pageQuestion('page', `hash ${end}`)]);
      const page = { taskId: task.id, key: 'page', message: 'waiting for the page' };
      const opened = await inputs.openPage(ALICE, page);
      expect(opened).toMatchObject({ phase: 'working', message: 'waiting for the page' });
      if (end === 'confirm') await inputs.confirm(ALICE, 'hash confirm', answerTo('page').answer);
      else await inputs.withdraw(task.id, ['page'], 'expired');
      expect(await message(task.id)).toBeUndefined();
    }
  });

  test('one that goes on by default leaves a word that nobody answered; another does not', async () => {
    const { inputs } = scene.store;
    const { task, fence } = await givenRunning(scene.store);
    await inputs.ask(fence, [{ ...question('goes on'), policy }, question('fails')]);
    await inputs.withdraw(task.id, ['goes on', 'fails'], 'expired');
    const story = await storyOf(scene.store, task.id);
    expect(story.filter((line) => line.startsWith('task.input_nobody_answered'))).toEqual([
      'task.input_nobody_answered goes on',
    ]);
  });
}
