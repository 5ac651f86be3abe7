import { describe, expect, test } from 'vitest';
import type { Operation, OperationState } from '../../ledger/operation.ts';
import { givenRunning, givenTask, settlement } from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** The contract of OperationStore. */
export function describeOperations(open: OpenScene): void {
  describe('OperationStore', () => {
    const scene = useScene(open);
    describe('list and counts', () => {
      testReading(scene);
    });
    describe('addEvidence', () => {
      testEvidence(scene);
    });
  });
}

const idsOf = (operations: readonly Operation[]) => operations.map(({ id }) => id);

/** An operation whose call was sent and then lost. */
async function givenUnknown(scene: Scene) {
  const { task, fence } = await givenRunning(scene.store);
  await scene.store.attempts.markDispatched(fence);
  const outcome = { kind: 'error', error: { code: -32603, message: 'lost' } } as const;
  const lost = { fence, outcome, callEnd: 'lost', reason: 'lost' } as const;
  await scene.store.tasks.settle(settlement(task.id, lost));
  return task.operationId ?? '';
}

function testReading(scene: Scene): void {
  test('pages go from new to old', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      if (count % 2 === 0) scene.clock.advance(1);
      ids.push((await givenTask(scene.store)).operationId ?? '');
      await givenTask(scene.store, { by: BOB });
    }
    const first = await scene.store.operations.list(ALICE, { limit: 3 });
    const last = first.at(-1);
    const after = { createdAt: last?.createdAt ?? 0, id: last?.id ?? '' };
    const second = await scene.store.operations.list(ALICE, { limit: 3, after });
    expect(first.length + second.length).toBe(5);
    expect(new Set(idsOf([...first, ...second]))).toEqual(new Set(ids));
    const times = [...first, ...second].map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(await scene.store.operations.list('system', { limit: 200 })).toHaveLength(10);
  });

  test('filters by state, tool and tenant', async () => {
    const lost = await givenUnknown(scene);
    const echo = (await givenTask(scene.store, { tool: 'echo', by: BOB })).operationId;
    const list = async (filter: object) =>
      idsOf(await scene.store.operations.list('system', { limit: 10, ...filter }));
    expect(await list({ state: 'unknown' })).toEqual([lost]);
    expect(await list({ tool: 'echo' })).toEqual([echo]);
    expect(await list({ tenant: ALICE.tenant })).toEqual([lost]);
    expect(await list({ state: 'unknown', tenant: BOB.tenant })).toEqual([]);
    const own = await scene.store.operations.list(ALICE, { limit: 10, state: 'intended' });
    expect(own).toEqual([]);
  });

  test('the start of an id finds it, for those who may see it', async () => {
    const id = (await givenTask(scene.store)).operationId ?? '';
    await givenTask(scene.store, { by: BOB });
    const filter = { limit: 10, idPrefix: id.slice(0, 12) };
    expect(idsOf(await scene.store.operations.list('system', filter))).toEqual([id]);
    expect(idsOf(await scene.store.operations.list(ALICE, filter))).toEqual([id]);
    expect(await scene.store.operations.list(BOB, filter)).toEqual([]);
    expect(await scene.store.operations.list('system', { limit: 10, idPrefix: '%' })).toEqual([]);
  });

  test('counts name every state', async () => {
    await givenUnknown(scene);
    await givenTask(scene.store);
    await givenTask(scene.store);
    const counts = await scene.store.operations.counts();
    const none: Record<OperationState, number> = { ...counts, intended: 0, unknown: 0 };
    expect(counts).toMatchObject({ intended: 2, unknown: 1 });
    expect(Object.values(none)).toEqual(Array.from({ length: 9 }, () => 0));
  });
}

function testEvidence(scene: Scene): void {
  test('an answer that is found later acknowledges what was unknown', async () => {
    const operationId = await givenUnknown(scene);
    scene.clock.advance(10);
    const evidence = { operationId, end: 'answered', reason: 'late_answer' } as const;
    const moved = await scene.store.operations.addEvidence(evidence);
    expect(moved).toMatchObject({
      state: 'acknowledged',
      reason: 'late_answer',
      updatedAt: SCENE_START + 10,
      dispatchedAt: SCENE_START,
    });
    expect(await scene.store.operations.get(ALICE, operationId)).toEqual(moved);
    const last = (await scene.store.events.list({ limit: 100 })).at(-1);
    expect(last).toMatchObject({ type: 'operation.moved', operationId, actor: 'system' });
  });

  test('what proves nothing leaves it unknown, with the newest reason', async () => {
    const operationId = await givenUnknown(scene);
    const evidence = { operationId, end: 'error', reason: 'late_error' } as const;
    expect(await scene.store.operations.addEvidence(evidence)).toMatchObject({
      state: 'unknown',
      reason: 'late_error',
    });
  });

  test('what was never sent learns nothing', async () => {
    const operationId = (await givenTask(scene.store)).operationId ?? '';
    const before = await scene.store.operations.get(ALICE, operationId);
    const evidence = { operationId, end: 'answered', reason: 'late_answer' } as const;
    expect(await scene.store.operations.addEvidence(evidence)).toEqual(before);
    expect(await scene.store.operations.get(ALICE, operationId)).toEqual(before);
  });

  test('an answered call stays answered whatever comes later', async () => {
    const { task, fence } = await givenRunning(scene.store);
    await scene.store.attempts.markDispatched(fence);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    const operationId = task.operationId ?? '';
    const evidence = { operationId, end: 'lost', reason: 'lost' } as const;
    expect(await scene.store.operations.addEvidence(evidence)).toMatchObject({
      state: 'acknowledged',
      reason: 'answered',
    });
  });

  test('there is no evidence for an operation that is not there', async () => {
    const evidence = { operationId: 'op_none', end: 'answered', reason: 'late_answer' } as const;
    expect(await scene.store.operations.addEvidence(evidence)).toBeUndefined();
  });
}
