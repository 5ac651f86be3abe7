import { describe, expect, test } from 'vitest';
import type { Access } from '../access.ts';
import { givenRunning, pageQuestion, settlement } from './given.ts';
import { confirmPage, givenPage, PAID, pageState } from './open-pages.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

/** The word of a page about the question that sent somebody there. */
export function describeConfirmations(open: OpenScene): void {
  describe('confirm', () => {
    const scene = useScene(open);
    testConfirming(scene);
    testNotConfirming(scene);
    testConfirmRaces(scene);
  });
}

function testConfirming(scene: Scene): void {
  test.each([true, false])('the page’s word is the answer, opened before: %s', async (opened) => {
    const { task } = await givenPage(scene.store);
    if (opened) await scene.store.inputs.openPage(ALICE, { taskId: task.id, key: 'page' });
    const found = await scene.store.inputs.findByConfirmation(ALICE, 'hash');
    expect(found).toMatchObject({ key: 'page', state: opened ? 'confirming' : 'pending' });
    expect(await confirmPage(scene.store)).toMatchObject({
      kind: 'taken',
      taken: [{ key: 'page', answer: PAID }],
      ignored: [],
      resumed: true,
      task: { phase: 'working' },
    });
    expect(await scene.store.inputs.answerOf(task.id, 'page')).toEqual(PAID);
    const last = (await scene.store.events.list({ limit: 20, taskId: task.id })).at(-1);
    const expected = { type: 'task.input_answered', actor: ALICE.owner, reason: 'page' };
    expect(last).toMatchObject(expected);
  });

  test('a page may say no', async () => {
    const { task } = await givenPage(scene.store);
    const declined = { kind: 'result', result: { action: 'decline' } } as const;
    await scene.store.inputs.confirm(ALICE, 'hash', declined);
    expect(await scene.store.inputs.answerOf(task.id, 'page')).toEqual(declined);
  });

  test('a confirmation belongs to one question of all tasks', async () => {
    await givenPage(scene.store);
    const { task, fence } = await givenRunning(scene.store);
    const again = scene.store.inputs.ask(fence, [pageQuestion('page', 'hash')]);
    await expect(again).rejects.toMatchObject({ code: 'LONGCALL_STORE_FAILED' });
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toEqual([]);
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(task);
  });
}

function testNotConfirming(scene: Scene): void {
  const gone = async (by: Access = ALICE) => {
    expect(await scene.store.inputs.findByConfirmation(by, 'hash')).toBeUndefined();
    expect(await confirmPage(scene.store, by)).toEqual({ kind: 'missing' });
  };

  test('a confirmation is used once', async () => {
    const { task } = await givenPage(scene.store);
    await confirmPage(scene.store);
    await gone();
    expect(await scene.store.inputs.answerOf(task.id, 'page')).toEqual(PAID);
  });

  test('that of another principal is unknown, and stays good for its own', async () => {
    const { task } = await givenPage(scene.store);
    await gone(BOB);
    await gone({ owner: ALICE.owner, tenant: 'elsewhere' });
    expect(await pageState(scene.store, task.id)).toBe('pending');
    expect(await confirmPage(scene.store)).toMatchObject({ kind: 'taken' });
  });

  test.each([
    ['was never given', async () => undefined],
    ['came too late', async () => scene.clock.advance(10_000)],
    [
      'is of a question that was withdrawn',
      async (taskId: string) => scene.store.inputs.withdraw(taskId, ['page'], 'upstream_withdrew'),
    ],
    [
      'is of a task that has ended',
      async (taskId: string) => scene.store.tasks.settle(settlement(taskId)),
    ],
  ] as const)('one that %s is missing', async (what, happen) => {
    const { task } = await givenPage(scene.store);
    await happen(task.id);
    if (what === 'was never given') {
      const never = await scene.store.inputs.confirm(ALICE, 'other', PAID);
      expect(never).toEqual({ kind: 'missing' });
      return;
    }
    await gone();
    expect(await scene.store.inputs.answerOf(task.id, 'page')).toBeUndefined();
  });
}

const RACES = 1000;
const AT_ONCE = 50;

function testConfirmRaces(scene: Scene): void {
  test('of a page that speaks twice and its expiry one wins, in a thousand races', async () => {
    const ends: string[] = [];
    for (let round = 0; round < RACES / AT_ONCE; round += 1) {
      const { task, fence } = await givenRunning(scene.store);
      const keys = Array.from({ length: AT_ONCE }, (_, index) => `page ${index}`);
      const hashOf = (key: string) => `${round} ${key}`;
      await scene.store.inputs.ask(
        fence,
        keys.map((key) => pageQuestion(key, hashOf(key))),
      );
      await Promise.all(
        keys.map(async (key, index) => {
          const say = () => scene.store.inputs.confirm(ALICE, hashOf(key), PAID);
          const expire = () => scene.store.inputs.withdraw(task.id, [key], 'expired');
          const moves = index % 2 === 0 ? [say, say, expire] : [expire, say, say];
          const done = await Promise.all(moves.map((move) => move()));
          const taken = done.filter((one) => one && 'kind' in one && one.kind === 'taken');
          ends.push(`${index % 2} ${taken.length}`);
        }),
      );
      expect(await scene.store.tasks.get(ALICE, task.id)).toMatchObject({ phase: 'working' });
      await scene.store.tasks.settle(settlement(task.id));
    }
    expect(new Set(ends)).toEqual(new Set(['0 1', '1 0']));
  });
}
