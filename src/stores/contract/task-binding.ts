import { describe, expect, test } from 'vitest';
import { answerTo, givenRunning, question, settlement } from './given.ts';
import type { Person } from './people.ts';
import { ALICE, STRANGERS } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

/** Every method that takes an access, asked by people that the record does not belong to (T13). */
export function describeTaskBinding(open: OpenScene): void {
  describe('bound to the principal', () => {
    const scene = useScene(open);

    describe.each(STRANGERS)('%s', (_who, stranger) => {
      testReadsOf(scene, stranger);
      testWritesOf(scene, stranger);
    });

    test('the system sees every task', async () => {
      const { task } = await givenRunning(scene.store);
      expect(await scene.store.tasks.get('system', task.id)).toMatchObject({ id: task.id });
    });

    test('nobody finds an id that does not exist', async () => {
      expect(await scene.store.tasks.get(ALICE, 'tsk_none')).toBeUndefined();
      expect(await scene.store.tasks.get('system', 'tsk_none')).toBeUndefined();
      expect(await scene.store.tasks.outcome('system', 'tsk_none')).toBeUndefined();
      expect(await scene.store.tasks.request('tsk_none')).toBeUndefined();
      expect(await scene.store.tasks.requestCancel('system', 'tsk_none')).toBeUndefined();
    });
  });
}

function testReadsOf(scene: Scene, stranger: Person): void {
  test('finds neither the task nor its outcome', async () => {
    const { task, fence } = await givenRunning(scene.store);
    expect(await scene.store.tasks.get(stranger, task.id)).toBeUndefined();
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.tasks.get(stranger, task.id)).toBeUndefined();
    expect(await scene.store.tasks.outcome(stranger, task.id)).toBeUndefined();
    expect(await scene.store.tasks.outcome(ALICE, task.id)).toBeDefined();
  });

  test('finds no task on the list, and no operation', async () => {
    const { task } = await givenRunning(scene.store, { handle: 'given' });
    for (const withHandle of [true, false]) {
      const params = { limit: 10, withHandle };
      expect(await scene.store.tasks.list(stranger, params)).toEqual([]);
      expect(await scene.store.tasks.list(ALICE, params)).toHaveLength(1);
    }
    const operationId = task.operationId ?? '';
    expect(await scene.store.operations.get(stranger, operationId)).toBeUndefined();
    expect(await scene.store.operations.list(stranger, { limit: 10 })).toEqual([]);
    const idPrefix = operationId.slice(0, 12);
    expect(await scene.store.operations.list(stranger, { limit: 10, idPrefix })).toEqual([]);
    expect(await scene.store.operations.get(ALICE, operationId)).toBeDefined();
  });

  test('a tenant filter widens no list of an owner', async () => {
    await givenRunning(scene.store, { handle: 'given' });
    const filter = { limit: 10, tenant: ALICE.tenant };
    expect(await scene.store.tasks.list(stranger, { ...filter, withHandle: false })).toEqual([]);
    expect(await scene.store.operations.list(stranger, filter)).toEqual([]);
  });

  test('sees no question', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    expect(await scene.store.inputs.listPending(stranger, task.id)).toEqual([]);
    expect(await scene.store.inputs.listPending(ALICE, task.id)).toHaveLength(1);
  });
}

function testWritesOf(scene: Scene, stranger: Person): void {
  test('cancels nothing', async () => {
    const { task } = await givenRunning(scene.store);
    expect(await scene.store.tasks.requestCancel(stranger, task.id)).toBeUndefined();
    expect(await scene.store.tasks.get(ALICE, task.id)).toEqual(task);
  });

  test('answers nothing', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.inputs.ask(fence, [question('one')]);
    const params = { taskId: task.id, answers: [answerTo('one')] };
    expect(await scene.store.inputs.answer(stranger, params)).toEqual({ kind: 'missing' });
    expect(await scene.store.inputs.answerOf(task.id, 'one')).toBeUndefined();
    expect(await scene.store.inputs.answer(ALICE, params)).toMatchObject({ resumed: true });
  });
}
