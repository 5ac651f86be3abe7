import { describe, expect, test } from 'vitest';
import type { CallEnd, OperationState } from '../../ledger/operation.ts';
import { RECEIPT_BYTES_MAX } from '../journal.ts';
import { ended, givenEffect, givenRunning, settlement, storyOf } from './given.ts';
import { ALICE } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

/** Evidence about effects, whenever it comes. */
export function describeReceipts(open: OpenScene): void {
  describe('recordReceipt', () => {
    const scene = useScene(open);
    testReceipts(scene);
    testLateReceipts(scene);
    testKeptReceipts(scene);
  });
}

const AFTER: readonly (readonly [CallEnd, OperationState])[] = [
  ['answered', 'acknowledged'],
  ['tool_error', 'unknown'],
  ['error', 'unknown'],
  ['lost', 'unknown'],
];

function testReceipts(scene: Scene): void {
  test.each(AFTER)('an effect that is %s is %s, with its proof', async (end, state) => {
    const { task, fence, effect } = await givenEffect(scene.store);
    scene.clock.advance(10);
    const receipt = { id: 'ch_1', amount: 12 };
    const fact = ended(1, 0, receipt);
    const recorded = await scene.store.journal.recordReceipt({
      operationId: effect.id,
      end,
      reason: end,
      receipt,
      journal: { fence, fact },
    });
    const operation = await scene.store.operations.get(ALICE, effect.id);
    expect(recorded).toEqual({ operation, journalled: true });
    expect(operation).toMatchObject({ state, reason: end, receipt, updatedAt: SCENE_START + 10 });
    expect((await scene.store.journal.read(task.id)).at(-1)).toEqual(fact);
    expect((await storyOf(scene.store, task.id)).slice(-2)).toEqual([
      `operation.moved dispatched->${state}`,
      `operation.receipt ${end}`,
    ]);
  });

  test('a receipt needs no proof and no journal', async () => {
    const { task, effect } = await givenEffect(scene.store);
    const receipt = { operationId: effect.id, end: 'answered', reason: 'answered' } as const;
    const { operation, journalled } = await scene.store.journal.recordReceipt(receipt);
    expect(operation).toMatchObject({ state: 'acknowledged' });
    expect(operation?.receipt).toBeUndefined();
    expect(journalled).toBe(false);
    expect(await scene.store.journal.read(task.id)).toHaveLength(1);
  });

  test('the call’s own operation is not decided by an effect of it', async () => {
    const { task, effect } = await givenEffect(scene.store);
    const receipt = { operationId: effect.id, end: 'answered', reason: 'answered' } as const;
    await scene.store.journal.recordReceipt(receipt);
    expect(await scene.store.operations.get(ALICE, task.operationId ?? '')).toMatchObject({
      state: 'dispatched',
    });
  });
}

function testLateReceipts(scene: Scene): void {
  test('a receipt from an epoch that has passed counts, its fact does not', async () => {
    const { task, fence, effect } = await givenEffect(scene.store);
    await scene.store.attempts.listOrphaned('boot_two', true);
    const recorded = await scene.store.journal.recordReceipt({
      operationId: effect.id,
      end: 'answered',
      reason: 'late',
      receipt: 'r',
      journal: { fence, fact: ended(1, 0) },
    });
    expect(recorded).toMatchObject({ operation: { state: 'acknowledged' }, journalled: false });
    expect(await scene.store.journal.read(task.id)).toHaveLength(1);
  });

  test('so does one whose fact no longer fits', async () => {
    const { task, fence, effect } = await givenEffect(scene.store);
    await scene.store.journal.append(fence, [ended(1, 0)]);
    const recorded = await scene.store.journal.recordReceipt({
      operationId: effect.id,
      end: 'answered',
      reason: 'late',
      journal: { fence, fact: ended(2, 0) },
    });
    expect(recorded).toMatchObject({ operation: { state: 'acknowledged' }, journalled: false });
    expect(await scene.store.journal.read(task.id)).toHaveLength(2);
  });

  test('and one after the task ended, and after its record was swept', async () => {
    const ends = await givenEffect(scene.store);
    const swept = await givenEffect(scene.store);
    for (const { task } of [ends, swept]) {
      await scene.store.tasks.settle(settlement(task.id, { callEnd: 'lost', reason: 'lost' }));
    }
    const receiptOf = (operationId: string) =>
      ({ operationId, end: 'answered', reason: 'late', receipt: { ok: true } }) as const;
    const late = await scene.store.journal.recordReceipt(receiptOf(ends.effect.id));
    expect(late.operation).toMatchObject({ state: 'acknowledged', receipt: { ok: true } });
    scene.clock.advance(swept.task.ttlMs);
    await scene.store.tasks.sweepExpired(10);
    const later = await scene.store.journal.recordReceipt(receiptOf(swept.effect.id));
    expect(later.operation).toMatchObject({ state: 'acknowledged', receipt: { ok: true } });
    expect(await scene.store.tasks.get('system', swept.task.id)).toBeUndefined();
  });

  test('a late outcome of a swept call is about the call, not about an effect of it', async () => {
    const { task, effect } = await givenEffect(scene.store);
    await scene.store.tasks.settle(settlement(task.id, { callEnd: 'lost', reason: 'lost' }));
    scene.clock.advance(task.ttlMs);
    await scene.store.tasks.sweepExpired(10);
    await scene.store.tasks.settle(settlement(task.id));
    const { operations } = scene.store;
    expect(await operations.get(ALICE, effect.parentId)).toMatchObject({ state: 'acknowledged' });
    expect(await operations.get(ALICE, effect.id)).toMatchObject({ state: 'unknown' });
  });

  test('what is unknown or was never sent learns nothing', async () => {
    const { task } = await givenRunning(scene.store);
    const receipt = { end: 'answered', reason: 'x', receipt: 1 } as const;
    const { journal, operations } = scene.store;
    expect(await journal.recordReceipt({ ...receipt, operationId: 'op_none' })).toEqual({
      journalled: false,
    });
    const operationId = task.operationId ?? '';
    const before = await operations.get(ALICE, operationId);
    const { operation } = await journal.recordReceipt({ ...receipt, operationId });
    expect(operation).toEqual(before);
    expect(await operations.get(ALICE, operationId)).toEqual(before);
  });
}

function testKeptReceipts(scene: Scene): void {
  const record = (operationId: string, end: CallEnd, receipt?: string) =>
    scene.store.journal.recordReceipt({
      operationId,
      end,
      reason: end,
      ...(receipt === undefined ? {} : { receipt }),
    });

  test('what moves the operation replaces a proof, all else fills an empty place', async () => {
    const { effect } = await givenEffect(scene.store);
    expect((await record(effect.id, 'error')).operation?.receipt).toBeUndefined();
    expect((await record(effect.id, 'error', 'first')).operation?.receipt).toBe('first');
    expect((await record(effect.id, 'error', 'second')).operation?.receipt).toBe('first');
    const answered = await record(effect.id, 'answered', 'third');
    expect(answered.operation).toMatchObject({ state: 'acknowledged', receipt: 'third' });
    const late = await record(effect.id, 'lost', 'fourth');
    expect(late.operation).toMatchObject({ state: 'acknowledged', receipt: 'third' });
  });

  test('a proof that is too large is left out, its word counts', async () => {
    const { effect } = await givenEffect(scene.store);
    const large = await record(effect.id, 'error', 'x'.repeat(RECEIPT_BYTES_MAX - 1));
    expect(large.operation).toMatchObject({ state: 'unknown' });
    expect(large.operation?.receipt).toBeUndefined();
    const fitting = 'x'.repeat(RECEIPT_BYTES_MAX - 2);
    expect((await record(effect.id, 'answered', fitting)).operation?.receipt).toBe(fitting);
  });

  test('no list shows a proof', async () => {
    const { effect } = await givenEffect(scene.store);
    await record(effect.id, 'answered', 'proof');
    const pages = await Promise.all([
      scene.store.operations.list(ALICE, { limit: 10 }),
      scene.store.operations.list('system', { limit: 10, state: 'acknowledged' }),
      scene.store.operations.list('system', { limit: 10, idPrefix: effect.id }),
    ]);
    for (const page of pages) {
      const shown = page.find(({ id }) => id === effect.id);
      expect(shown).toMatchObject({ parentId: effect.parentId, name: 'pay' });
      expect(shown?.receipt).toBeUndefined();
    }
  });
}
