import { describe, expect, test } from 'vitest';
import type { InputPolicy } from '../../protocol/model.ts';
import { answerTo, givenRunning, pageQuestion, question, settlement, storyOf } from './given.ts';
import { confirmPage, givenPage, PAID, pageState } from './open-pages.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** Questions that a page has to confirm (URL mode), and what is remembered of each question. */
export function describePages(open: OpenScene): void {
  describe('find', () => {
    const scene = useScene(open);
    testFinding(scene);
  });
  describe('openPage', () => {
    const scene = useScene(open);
    testOpening(scene);
    testNotOpening(scene);
  });
}

const POLICY: InputPolicy = {
  fields: { value: 'payment' },
  answerableByModel: [],
  onExpiry: 'default',
  defaultContent: { value: 'no' },
  approval: true,
};

function testFinding(scene: Scene): void {
  test('a question is found with its policy, whatever became of it', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const keys = ['open', 'answered', 'withdrawn', 'expired'];
    await scene.store.inputs.ask(
      fence,
      keys.map((key) => ({ ...question(key), policy: POLICY })),
    );
    const { inputs } = scene.store;
    await inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('answered')] });
    await inputs.withdraw(task.id, ['withdrawn'], 'upstream_lost');
    await inputs.withdraw(task.id, ['expired'], 'expired');
    const found = await Promise.all(keys.map((key) => inputs.find(task.id, key)));
    const about = (key: string, state: string) => {
      const { openMs, ...asked } = question(key);
      const [askedAt, expiresAt] = [SCENE_START, SCENE_START + openMs];
      return { ...asked, taskId: task.id, state, askedAt, expiresAt, policy: POLICY };
    };
    expect(found).toEqual([
      { input: about('open', 'pending') },
      { input: about('answered', 'answered'), answer: answerTo('answered').answer },
      { input: about('withdrawn', 'withdrawn'), closedBecause: 'upstream_lost' },
      { input: about('expired', 'expired'), closedBecause: 'expired' },
    ]);
    expect(await inputs.listPending(ALICE, task.id)).toEqual([about('open', 'pending')]);
  });

  test('at the end of its task nothing of an answer is left, and what was open says why', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const secret = { ...question('secret'), policy: POLICY };
    const page = { ...pageQuestion('page', 'hash'), policy: POLICY };
    await scene.store.inputs.ask(fence, [secret, page, question('open')]);
    const { inputs } = scene.store;
    await inputs.answer(ALICE, { taskId: task.id, answers: [answerTo('secret')] });
    await inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    await scene.store.tasks.settle(settlement(task.id));
    const found = await Promise.all(
      ['secret', 'page', 'open'].map((key) => inputs.find(task.id, key)),
    );
    expect(found.map((one) => [one?.input.state, one?.answer, one?.closedBecause])).toEqual([
      ['answered', undefined, undefined],
      ['withdrawn', undefined, 'ended'],
      ['withdrawn', undefined, 'ended'],
    ]);
  });

  test('there is nothing to find under another key or task', async () => {
    const { task } = await givenPage(scene.store);
    expect(await scene.store.inputs.find(task.id, 'none')).toBeUndefined();
    expect(await scene.store.inputs.find('tsk_none', 'page')).toBeUndefined();
  });
}

function testOpening(scene: Scene): void {
  test('the task goes back to working, since its owner has nothing more to send', async () => {
    const { task } = await givenPage(scene.store);
    scene.clock.advance(10);
    const opened = await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    expect(opened).toMatchObject({ phase: 'working', updatedAt: SCENE_START + 10 });
    expect(await pageState(scene.store, task.id)).toBe('confirming');
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toEqual([]);
    expect(await scene.store.tasks.counts()).toMatchObject({ working: 1, inputRequired: 0 });
    expect((await storyOf(scene.store, task.id)).at(-1)).toBe('task.input_page_opened page');
  });

  test('what is said meanwhile is the status message, until the page has spoken', async () => {
    const { task } = await givenPage(scene.store, 'other');
    const page = { taskId: task.id, key: 'page', message: 'waits for a page' };
    const opened = await scene.store.inputs.openPage(ALICE, page);
    expect(opened).toMatchObject({ phase: 'input_required', message: 'waits for a page' });
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(opened);
    expect(await confirmPage(scene.store)).toMatchObject({ kind: 'taken', resumed: false });
    expect((await scene.store.tasks.get(ALICE, task.id))?.message).toBeUndefined();
  });

  test('while another question is pending it stays input_required', async () => {
    const { task } = await givenPage(scene.store, 'other');
    const opened = await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    expect(opened).toMatchObject({ phase: 'input_required' });
    const answers = [answerTo('other')];
    const answered = await scene.store.inputs.answer(ALICE, { taskId: task.id, answers });
    expect(answered).toMatchObject({ resumed: false, task: { phase: 'working' } });
    expect(await confirmPage(scene.store)).toMatchObject({ resumed: true });
  });

  test('consent is no answer, and none is taken beside the page', async () => {
    const { task } = await givenPage(scene.store);
    await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    const answers = [answerTo('page')];
    const answered = await scene.store.inputs.answer(ALICE, { taskId: task.id, answers });
    expect(answered).toMatchObject({ taken: [], ignored: ['page'], resumed: false });
    expect(await pageState(scene.store, task.id)).toBe('confirming');
  });

  test('a page that nobody comes back from is due when its time is up', async () => {
    const { task } = await givenPage(scene.store);
    await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    scene.clock.set(SCENE_START + 9_999);
    expect(await scene.store.inputs.listDue(10)).toEqual([]);
    scene.clock.set(SCENE_START + 10_000);
    expect(await scene.store.inputs.listDue(10)).toMatchObject([
      { key: 'page', state: 'confirming' },
    ]);
    await scene.store.inputs.withdraw(task.id, ['page'], 'expired');
    expect(await pageState(scene.store, task.id)).toBe('expired');
    expect(await scene.store.inputs.listDue(10)).toEqual([]);
  });
}

function testNotOpening(scene: Scene): void {
  test('a page is opened once', async () => {
    const { task } = await givenPage(scene.store);
    const { inputs } = scene.store;
    const opened = await Promise.all([
      inputs.openPage(ALICE, { taskId: task.id, key: 'page' }),
      inputs.openPage(ALICE, { taskId: task.id, key: 'page' }),
    ]);
    expect(opened.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await inputs.openPage(ALICE, { taskId: task.id, key: 'page' })).toBeUndefined();
  });

  test('not by a stranger, not under another key, not where no page is to confirm', async () => {
    const { task } = await givenPage(scene.store, 'form');
    const { inputs } = scene.store;
    expect(await inputs.openPage(BOB, { taskId: task.id, key: 'page' })).toBeUndefined();
    expect(await inputs.openPage(ALICE, { taskId: task.id, key: 'none' })).toBeUndefined();
    expect(await inputs.openPage(ALICE, { taskId: task.id, key: 'form' })).toBeUndefined();
    expect(await inputs.openPage(ALICE, { taskId: 'tsk_none', key: 'page' })).toBeUndefined();
    expect(await inputs.listPending(ALICE, task.id)).toHaveLength(2);
  });

  test('not after its time, its answer, or the end of its task', async () => {
    const late = await givenPage(scene.store);
    scene.clock.advance(10_000);
    expect(
      await scene.store.inputs.openPage(ALICE, { taskId: late.task.id, key: 'page' }),
    ).toBeUndefined();
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [pageQuestion('a', 'hash a'), pageQuestion('b', 'hash b')]);
    await scene.store.inputs.confirm(ALICE, 'hash a', PAID);
    expect(await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'a' })).toBeUndefined();
    await scene.store.tasks.settle(settlement(task.id));
    expect(await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'b' })).toBeUndefined();
  });
}
