import { describe, expect, test } from 'vitest';
import {
  draftTask,
  givenClaim,
  givenExisting,
  givenRunning,
  givenTask,
  NO_LIMITS,
  settlement,
  storyOf,
  TTL_MS,
} from './given.ts';
import type { Draft } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

/** Starts under an idempotency key (decision 4). */
export function describeStartClaims(open: OpenScene): void {
  describe('create under a key', () => {
    const scene = useScene(open);
    testSameCall(scene);
    testOtherArguments(scene);
    testNothingHappened(scene);
    testReads(scene);
    testRefusals(scene);
  });
}

const CLAIM = { keyHash: 'k1.one', fingerprint: 'f1.same' };
const KEYED: Draft = { claim: CLAIM };
const KEYED_READ: Draft = { claim: CLAIM, effect: 'read' };
const OTHER: Draft = { claim: { ...CLAIM, fingerprint: 'f1.other' } };

const ABANDONED = {
  outcome: { kind: 'cancelled' },
  callEnd: 'cancelled',
  reason: 'abandoned',
} as const;
const ERROR = { kind: 'error', error: { code: -32_603, message: 'lost' } } as const;

/** A call under the key whose answer never came. */
async function givenLost(scene: Scene) {
  const { task, fence } = await givenRunning(scene.store, KEYED);
  await scene.store.attempts.markDispatched(fence);
  const lost = { fence, outcome: ERROR, callEnd: 'lost', reason: 'upstream_lost' } as const;
  await scene.store.tasks.settle(settlement(task.id, lost));
  return task;
}

/** Time goes until the record is gone, and is swept where that is asked for. */
async function afterExpiry(scene: Scene, swept: boolean): Promise<void> {
  scene.clock.advance(TTL_MS);
  if (swept) expect(await scene.store.tasks.sweepExpired(10)).toBe(1);
}

function testSameCall(scene: Scene): void {
  test('the same call again is the same task, and nothing new runs', async () => {
    const first = await givenTask(scene.store, KEYED);
    const again = await givenExisting(scene.store, KEYED);
    expect(again).toMatchObject({ by: 'key', task: { id: first.id } });
    expect(again.operation?.id).toBe(first.operationId);
    expect(await scene.store.attempts.queuedCount()).toBe(1);
    expect(await scene.store.tasks.counts()).toMatchObject({ working: 1 });
    expect(await scene.store.operations.list('system', { limit: 10 })).toHaveLength(1);
  });

  test('a thousand at the same time are one task', async () => {
    const drafts = Array.from({ length: 1000 }, () => draftTask(KEYED));
    const ends = await Promise.all(drafts.map((draft) => scene.store.tasks.create(draft)));
    const ids = new Set(ends.map((end) => ('task' in end ? end.task?.id : undefined)));
    expect(ends.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(ids.size).toBe(1);
    expect(await scene.store.attempts.queuedCount()).toBe(1);
  });

  test('it outlives the process', async () => {
    const first = await givenTask(scene.store, KEYED);
    await scene.reopen();
    expect(await givenExisting(scene.store, KEYED)).toMatchObject({ task: { id: first.id } });
  });

  test('an ended call gives its outcome, not a second run', async () => {
    const { task, fence } = await givenRunning(scene.store, KEYED);
    await scene.store.attempts.markDispatched(fence);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    const again = await givenExisting(scene.store, KEYED);
    expect(again.task).toMatchObject({ id: task.id, ending: 'result' });
    expect(again.operation).toMatchObject({ state: 'acknowledged' });
  });

  test.each([false, true])(
    'a claim never expires into free: with the record gone the ledger answers (swept: %s) [D5]',
    async (swept) => {
      const task = await givenLost(scene);
      await afterExpiry(scene, swept);
      const again = await givenExisting(scene.store, KEYED);
      expect(again.task).toBeUndefined();
      expect(again.operation).toMatchObject({ id: task.operationId, state: 'unknown' });
      expect(await scene.store.attempts.queuedCount()).toBe(0);
    },
  );

  test('an overdue call that is still at work is known, and not begun again', async () => {
    const { task, fence } = await givenRunning(scene.store, KEYED);
    await scene.store.attempts.markDispatched(fence);
    scene.clock.advance(TTL_MS);
    const again = await givenExisting(scene.store, KEYED);
    expect(again.task).toBeUndefined();
    expect(again.operation).toMatchObject({ id: task.operationId, state: 'dispatched' });
  });

  test('another key is another call', async () => {
    await givenTask(scene.store, KEYED);
    const other = { claim: { ...CLAIM, keyHash: 'k1.two' } };
    expect(await scene.store.tasks.create(draftTask(other))).toMatchObject({ kind: 'created' });
  });
}

function testOtherArguments(scene: Scene): void {
  test('other arguments conflict: nothing is written, and the operation is named', async () => {
    const first = await givenTask(scene.store, KEYED);
    const before = await scene.store.events.list({ limit: 10 });
    expect(await scene.store.tasks.create(draftTask(OTHER))).toEqual({
      kind: 'conflict',
      operationId: first.operationId,
    });
    expect(await scene.store.events.list({ limit: 10 })).toEqual(before);
    expect(await givenExisting(scene.store, KEYED)).toMatchObject({ task: { id: first.id } });
  });

  test('they conflict also where nothing had happened, and after the record is gone', async () => {
    const first = await givenTask(scene.store, KEYED);
    await scene.store.tasks.settle(settlement(first.id, ABANDONED));
    expect(await scene.store.tasks.create(draftTask(OTHER))).toMatchObject({ kind: 'conflict' });
    await afterExpiry(scene, true);
    expect(await scene.store.tasks.create(draftTask(OTHER))).toMatchObject({ kind: 'conflict' });
  });

  test('those of a read conflict while its record lives', async () => {
    await givenTask(scene.store, KEYED_READ);
    const other = draftTask({ ...OTHER, effect: 'read' });
    expect(await scene.store.tasks.create(other)).toEqual({ kind: 'conflict' });
  });
}

/** A call under the key that ended before anything was sent. */
async function givenAbandoned(scene: Scene) {
  const task = await givenTask(scene.store, KEYED);
  await scene.store.tasks.settle(settlement(task.id, ABANDONED));
  return task;
}

function testNothingHappened(scene: Scene): void {
  test('what was abandoned is begun anew: a new task on the same operation', async () => {
    const first = await givenAbandoned(scene);
    const again = await givenTask(scene.store, KEYED);
    expect(again.id).not.toBe(first.id);
    expect(again.operationId).toBe(first.operationId);
    const operation = await scene.store.operations.get(ALICE, again.operationId ?? '');
    expect(operation).toMatchObject({ state: 'intended', taskId: again.id });
    expect(await storyOf(scene.store, again.id)).toEqual([
      'operation.moved abandoned->intended',
      'task.created',
    ]);
    expect(await scene.store.operations.list('system', { limit: 10 })).toHaveLength(1);
  });

  test('the new task is sent, and the old one has no say in it any more', async () => {
    const first = await givenAbandoned(scene);
    const again = await givenTask(scene.store, KEYED);
    const fence = await givenClaim(scene.store, again.id);
    expect(await scene.store.attempts.markDispatched(fence)).toBe(true);
    const late = { outcome: { kind: 'cancelled' }, callEnd: 'cancelled' } as const;
    expect(await scene.store.tasks.settle(settlement(first.id, late))).toMatchObject({
      kind: 'late',
    });
    const state = async () =>
      (await scene.store.operations.get(ALICE, again.operationId ?? ''))?.state;
    expect(await state()).toBe('dispatched');
    await scene.store.tasks.settle(settlement(again.id, { fence }));
    expect(await state()).toBe('acknowledged');
  });

  test('a second repeat is the task that was begun anew', async () => {
    await givenAbandoned(scene);
    const again = await givenTask(scene.store, KEYED);
    expect(await givenExisting(scene.store, KEYED)).toMatchObject({ task: { id: again.id } });
  });

  test('what its tool has answered without an effect is its answer', async () => {
    const { task, fence } = await givenRunning(scene.store, KEYED);
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    const again = await givenExisting(scene.store, KEYED);
    expect(again).toMatchObject({ task: { id: task.id }, operation: { state: 'abandoned' } });
  });

  test('it is begun anew also when its record is long gone', async () => {
    const first = await givenAbandoned(scene);
    await afterExpiry(scene, true);
    const again = await givenTask(scene.store, KEYED);
    expect(again.operationId).toBe(first.operationId);
  });
}

function testReads(scene: Scene): void {
  test('the claim of a read goes with its record', async () => {
    const first = await givenTask(scene.store, KEYED_READ);
    expect(await givenExisting(scene.store, KEYED_READ)).toMatchObject({ task: { id: first.id } });
    await scene.store.tasks.settle(settlement(first.id));
    expect(await givenExisting(scene.store, KEYED_READ)).toMatchObject({ task: { id: first.id } });
    scene.clock.advance(TTL_MS);
    const second = await givenTask(scene.store, KEYED_READ);
    expect(second.id).not.toBe(first.id);
    await scene.store.tasks.sweepExpired(10);
    expect(await givenExisting(scene.store, KEYED_READ)).toMatchObject({ task: { id: second.id } });
  });

  test('a read that ended without its tool’s answer is done again', async () => {
    const first = await givenTask(scene.store, KEYED_READ);
    await scene.store.tasks.settle(settlement(first.id, { outcome: ERROR, callEnd: 'lost' }));
    const second = await givenTask(scene.store, KEYED_READ);
    expect(second.id).not.toBe(first.id);
    expect(await givenExisting(scene.store, KEYED_READ)).toMatchObject({ task: { id: second.id } });
  });
}

function testRefusals(scene: Scene): void {
  test('a create that is refused for room leaves no claim', async () => {
    const full = { ...NO_LIMITS, perPrincipal: 1 };
    const { id } = await givenTask(scene.store);
    const refused = draftTask({ ...KEYED, limits: full });
    expect(await scene.store.tasks.create(refused)).toMatchObject({ kind: 'full' });
    await scene.store.tasks.settle(settlement(id));
    const other = draftTask({ ...OTHER, limits: full });
    expect(await scene.store.tasks.create(other)).toMatchObject({ kind: 'created' });
  });

  test('a repeat is answered where nothing new would be let in', async () => {
    const first = await givenTask(scene.store, KEYED);
    const full = { ...NO_LIMITS, perPrincipal: 0 };
    expect(await givenExisting(scene.store, { ...KEYED, limits: full })).toMatchObject({
      task: { id: first.id },
    });
  });

  test('an id that is taken leaves no claim', async () => {
    const first = await givenTask(scene.store);
    await expect(
      scene.store.tasks.create(draftTask({ ...KEYED, id: first.id })),
    ).rejects.toMatchObject({ data: { written: 'no' } });
    expect(await scene.store.tasks.create(draftTask(OTHER))).toMatchObject({ kind: 'created' });
  });
}
