import { describe, expect, test } from 'vitest';
import { answerTo, freshAttemptId, givenClaim, givenRunning, question } from './given.ts';
import { settlement, storyOf } from './given.ts';
import { describeConfirmations } from './confirmations.ts';
import { describePages } from './pages.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** The contract of InputStore. */
export function describeInputs(open: OpenScene): void {
  describe('InputStore', () => {
    const scene = useScene(open);
    describe('ask', () => {
      testAsking(scene);
    });
    describe('answer', () => {
      testAnswering(scene);
    });
    describe('answer of keys that are not open', () => {
      testIgnoring(scene);
    });
    describe('withdraw', () => {
      testWithdrawing(scene);
    });
    describe('questions and their time', () => {
      testTime(scene);
    });
    describePages(open);
    describeConfirmations(open);
  });
}

const answer = (scene: Scene, taskId: string, keys: readonly string[]) =>
  scene.store.inputs.answer(ALICE, { taskId, answers: keys.map((key) => answerTo(key)) });

const phaseOf = async (scene: Scene, taskId: string) =>
  (await scene.store.tasks.get(ALICE, taskId))?.phase;

async function givenAsked(scene: Scene, keys: readonly string[]) {
  const running = await givenRunning(scene.store);
  await scene.store.inputs.ask(
    running.fence,
    keys.map((key) => question(key)),
  );
  return running;
}

function testAsking(scene: Scene): void {
  test('asking moves the task to input_required and lists what is open, oldest first', async () => {
    const { task, fence } = await givenRunning(scene.store);
    scene.clock.advance(10);
    const asked = await scene.store.inputs.ask(fence, [question('b'), question('a', 500)]);
    const expected = [question('b'), question('a', 500)].map(({ openMs, ...input }) => ({
      ...input,
      taskId: task.id,
      state: 'pending',
      askedAt: SCENE_START + 10,
      expiresAt: SCENE_START + 10 + openMs,
    }));
    const moved = {
      ...task,
      phase: 'input_required',
      updatedAt: SCENE_START + 10,
      revision: task.revision + 1,
    };
    expect(asked).toEqual({ kind: 'asked', task: moved, inputs: expected });
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toEqual(expected);
    expect(await scene.store.inputs.listPending('system', task.id)).toEqual(expected);
    expect(await storyOf(scene.store, task.id)).toEqual([
      'task.created',
      'task.input_asked b',
      'task.input_asked a',
    ]);
  });

  test('more may be asked while something is open', async () => {
    const { task, fence } = await givenAsked(scene, ['one']);
    const before = await scene.store.tasks.get(ALICE, task.id);
    const asked = await scene.store.inputs.ask(fence, [question('two')]);
    expect(asked).toMatchObject({ kind: 'asked', task: before });
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toHaveLength(2);
  });

  test.each([
    ['open', async () => undefined],
    ['answered', (taskId: string) => answer(scene, taskId, ['one'])],
    ['withdrawn', (id: string) => scene.store.inputs.withdraw(id, ['one'], 'upstream_withdrew')],
    ['expired', (taskId: string) => scene.store.inputs.withdraw(taskId, ['one'], 'expired')],
  ])(
    'a key that is %s is never used again, and nothing of the round is asked',
    async (_s, close) => {
      const { task, fence } = await givenAsked(scene, ['one']);
      await close(task.id);
      const before = await scene.store.tasks.get(ALICE, task.id);
      const refused = { kind: 'refused', reason: 'key_reused' };
      expect(await scene.store.inputs.ask(fence, [question('new'), question('one')])).toEqual(
        refused,
      );
      expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(before);
      expect(await scene.store.inputs.ask(fence, [question('x'), question('x')])).toEqual(refused);
      expect(await scene.store.inputs.ask(fence, [question('new')])).toMatchObject({
        kind: 'asked',
      });
    },
  );

  test('two tasks may use the same key', async () => {
    const first = await givenAsked(scene, ['one']);
    const second = await givenAsked(scene, ['one']);
    await answer(scene, first.task.id, ['one']);
    expect(await scene.store.inputs.listPending(ALICE, second.task.id)).toHaveLength(1);
  });

  test('a task that has ended asks nothing', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    const asked = await scene.store.inputs.ask(fence, [question('one')]);
    expect(asked).toEqual({ kind: 'refused', reason: 'ended' });
  });
}

function testAnswering(scene: Scene): void {
  test('the last answer resumes the task', async () => {
    const { task } = await givenAsked(scene, ['one', 'two']);
    const asking = await scene.store.tasks.get(ALICE, task.id);
    expect(await answer(scene, task.id, ['one'])).toEqual({
      kind: 'taken',
      task: asking,
      taken: [answerTo('one')],
      ignored: [],
      resumed: false,
    });
    scene.clock.advance(10);
    expect(await answer(scene, task.id, ['two'])).toMatchObject({
      resumed: true,
      task: { phase: 'working', updatedAt: SCENE_START + 10 },
    });
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toEqual(answerTo('one').answer);
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toEqual([]);
    const events = await scene.store.events.list({ limit: 10, taskId: task.id });
    expect(events.at(-1)).toMatchObject({
      type: 'task.input_answered',
      actor: ALICE.owner,
      reason: 'two',
    });
  });

  test('an error is an answer too', async () => {
    const { task } = await givenAsked(scene, ['one']);
    const error = { kind: 'error', error: { code: -1, message: 'declined by policy' } } as const;
    const answers = [{ key: 'one', answer: error }];
    await scene.store.inputs.answer('system', { taskId: task.id, answers });
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toEqual(error);
  });

  test('a hundred answers at once: one is taken, one resumes', async () => {
    const { task } = await givenAsked(scene, ['one']);
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const answers = [answerTo('one', `answer ${index}`)];
        return scene.store.inputs.answer(ALICE, { taskId: task.id, answers });
      }),
    );
    const taken = outcomes.flatMap((one) => (one.kind === 'taken' ? one.taken : []));
    const resumed = outcomes.filter((one) => one.kind === 'taken' && one.resumed);
    expect(taken).toHaveLength(1);
    expect(resumed).toHaveLength(1);
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toEqual(taken[0]?.answer);
  });

  test('each round resumes once', async () => {
    const { task, fence } = await givenAsked(scene, ['one']);
    expect(await answer(scene, task.id, ['one'])).toMatchObject({ resumed: true });
    await scene.store.inputs.ask(fence, [question('two')]);
    expect(await answer(scene, task.id, ['one'])).toMatchObject({ resumed: false });
    expect(await phaseOf(scene, task.id)).toBe('input_required');
    expect(await answer(scene, task.id, ['two'])).toMatchObject({ resumed: true });
  });
}

function testIgnoring(scene: Scene): void {
  test('unknown, answered and doubled keys are ignored, the first answer stays', async () => {
    const { task } = await givenAsked(scene, ['one', 'two']);
    await answer(scene, task.id, ['one']);
    const answers = [
      answerTo('one', 'no'),
      answerTo('none'),
      answerTo('two'),
      answerTo('two', 'no'),
    ];
    const outcome = await scene.store.inputs.answer(ALICE, { taskId: task.id, answers });
    expect(outcome).toMatchObject({
      taken: [answerTo('two')],
      ignored: ['one', 'none', 'two'],
      resumed: true,
    });
    for (const key of ['one', 'two']) {
      expect(await scene.store.inputs.answerOf(task.id, key)).toEqual(answerTo(key).answer);
    }
  });

  test('a call that answers nothing changes nothing', async () => {
    const { task } = await givenAsked(scene, ['one']);
    const before = await scene.store.tasks.get(ALICE, task.id);
    const outcome = await answer(scene, task.id, ['none']);
    expect(outcome).toMatchObject({ task: before, taken: [], ignored: ['none'], resumed: false });
    expect(await answer(scene, task.id, [])).toMatchObject({ taken: [], resumed: false });
  });

  test('the keys of a task that has ended are ignored', async () => {
    const { task, fence } = await givenAsked(scene, ['one']);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await answer(scene, task.id, ['one'])).toMatchObject({
      kind: 'taken',
      taken: [],
      ignored: ['one'],
      resumed: false,
      task: { phase: 'ended' },
    });
  });

  test('nobody answers for a task that is not there', async () => {
    expect(await answer(scene, 'tsk_none', ['one'])).toEqual({ kind: 'missing' });
    expect(await scene.store.inputs.answerOf('tsk_none', 'one')).toBeUndefined();
  });
}

function testWithdrawing(scene: Scene): void {
  test('the task goes back to working when nothing is open any more', async () => {
    const { task } = await givenAsked(scene, ['one', 'two']);
    const asking = await scene.store.tasks.get(ALICE, task.id);
    expect(await scene.store.inputs.withdraw(task.id, ['one'], 'upstream_lost')).toEqual(asking);
    const working = await scene.store.inputs.withdraw(task.id, ['two', 'none'], 'upstream_lost');
    expect(working).toMatchObject({ phase: 'working' });
    expect((await storyOf(scene.store, task.id)).slice(-2)).toEqual([
      'task.input_withdrawn upstream_lost one',
      'task.input_withdrawn upstream_lost two',
    ]);
  });

  test('an answered key cannot be withdrawn, and a withdrawn one not answered', async () => {
    const { task } = await givenAsked(scene, ['one', 'two', 'three']);
    await answer(scene, task.id, ['one']);
    await scene.store.inputs.withdraw(task.id, ['one', 'two'], 'upstream_withdrew');
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toBeDefined();
    expect(await answer(scene, task.id, ['two'])).toMatchObject({ ignored: ['two'] });
    expect(await phaseOf(scene, task.id)).toBe('input_required');
  });

  test('withdrawing from a task that has ended or never was leaves it alone', async () => {
    const { task, fence } = await givenAsked(scene, ['one']);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    const ended = await scene.store.tasks.get(ALICE, task.id);
    expect(await scene.store.inputs.withdraw(task.id, ['one'], 'ended')).toEqual(ended);
    expect(await scene.store.inputs.withdraw('tsk_none', ['one'], 'ended')).toBeUndefined();
  });

  test('questions outlive the attempt that asked until they are withdrawn', async () => {
    const { task, fence } = await givenAsked(scene, ['one']);
    await scene.store.attempts.requeue(fence, freshAttemptId(), 'lost');
    const next = await givenClaim(scene.store, task.id);
    await scene.store.inputs.withdraw(task.id, ['one'], 'upstream_lost');
    expect(await phaseOf(scene, task.id)).toBe('working');
    const asked = await scene.store.inputs.ask(next, [question('two')]);
    expect(asked).toMatchObject({ kind: 'asked' });
  });
}

function testTime(scene: Scene): void {
  test('a question whose time is up is due, not listed and not answered', async () => {
    const { task } = await givenAsked(scene, ['one']);
    scene.clock.set(SCENE_START + 9_999);
    expect(await scene.store.inputs.listDue(10)).toEqual([]);
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toHaveLength(1);
    scene.clock.set(SCENE_START + 10_000);
    expect(await scene.store.inputs.listDue(10)).toMatchObject([
      { taskId: task.id, key: 'one', state: 'pending' },
    ]);
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toEqual([]);
    expect(await answer(scene, task.id, ['one'])).toMatchObject({ ignored: ['one'] });
    const working = await scene.store.inputs.withdraw(task.id, ['one'], 'expired');
    expect(working).toMatchObject({ phase: 'working' });
    expect(await scene.store.inputs.listDue(10)).toEqual([]);
  });

  test('what is due longest comes first, no more than asked for', async () => {
    const { fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('c', 30), question('a', 10), question('b', 20)]);
    scene.clock.advance(1000);
    const due = await scene.store.inputs.listDue(2);
    expect(due.map(({ key }) => key)).toEqual(['a', 'b']);
  });
}
