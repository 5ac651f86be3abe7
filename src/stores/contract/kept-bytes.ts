import { describe, expect, test } from 'vitest';
import type { KeptBytes } from '../tasks.ts';
import {
  draftTask,
  givenClaim,
  givenRunning,
  givenTask,
  NO_LIMITS,
  settlement,
  TTL_MS,
} from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

/** What a record takes beside its bodies. */
const ROWS = 1024;

const textOf = (bytes: number): string => 'x'.repeat(bytes);
const bodyOf = (text: string) => ({ arguments: { text }, meta: {} });
const bytesOf = (...bodies: readonly object[]): number =>
  bodies.reduce<number>((sum, body) => sum + Buffer.byteLength(JSON.stringify(body)), 0);

/** What is kept, by count of bytes, and the limits on it (I4, E4). */
export function describeKeptBytes(open: OpenScene): void {
  describe('keptBytes', () => {
    const scene = useScene(open);
    testCounting(scene);
    testByteLimits(scene);
    testQueueOfTool(scene);
  });
}

const NOTHING: KeptBytes = { ofPrincipal: 0, ofTenant: 0, total: 0 };
const all = (bytes: number): KeptBytes => ({ ofPrincipal: bytes, ofTenant: bytes, total: bytes });

function testCounting(scene: Scene): void {
  test('counts requests and outcomes, byte by byte, until the record is swept', async () => {
    expect(await scene.store.tasks.keptBytes(ALICE)).toEqual(NOTHING);
    const request = bodyOf('ünï𝄞');
    const { task, fence } = await givenRunning(scene.store, { request });
    const begun = ROWS + bytesOf(request.arguments, request.meta);
    expect(await scene.store.tasks.keptBytes(ALICE)).toEqual(all(begun));
    const outcome = { kind: 'result', result: { text: '𝄞'.repeat(100) } } as const;
    await scene.store.tasks.settle(settlement(task.id, { fence, outcome }));
    const kept = all(begun + bytesOf(outcome));
    expect(await scene.store.tasks.keptBytes(ALICE)).toEqual(kept);
    await scene.reopen();
    scene.clock.advance(TTL_MS);
    expect(await scene.store.tasks.keptBytes(ALICE)).toEqual(kept);
    await scene.store.tasks.sweepExpired(10);
    expect(await scene.store.tasks.keptBytes(ALICE)).toEqual(NOTHING);
  });

  test('is of principals, of their tenants, and of all', async () => {
    const carol = { owner: 'prn_carol', tenant: ALICE.tenant };
    const request = bodyOf(textOf(100));
    const each = ROWS + bytesOf(request.arguments, request.meta);
    for (const by of [ALICE, carol, BOB]) await givenTask(scene.store, { by, request });
    expect(await scene.store.tasks.keptBytes(ALICE)).toEqual({
      ofPrincipal: each,
      ofTenant: 2 * each,
      total: 3 * each,
    });
    expect(await scene.store.tasks.keptBytes(BOB)).toEqual({
      ofPrincipal: each,
      ofTenant: each,
      total: 3 * each,
    });
  });

  test('a create that is refused, or is a repeat, keeps nothing', async () => {
    const claim = { keyHash: 'k1.one', fingerprint: 'f1.same' };
    await givenTask(scene.store, { claim });
    const before = await scene.store.tasks.keptBytes(ALICE);
    await scene.store.tasks.create(draftTask({ claim }));
    await scene.store.tasks.create(draftTask({ limits: { ...NO_LIMITS, total: 0 } }));
    expect(await scene.store.tasks.keptBytes(ALICE)).toEqual(before);
  });
}

function testByteLimits(scene: Scene): void {
  const LIMITS = [
    ['bytesPerPrincipal', { by: ALICE }],
    ['bytesPerTenant', { by: { owner: 'prn_carol', tenant: ALICE.tenant } }],
    ['bytesTotal', { by: BOB }],
  ] as const;

  test.each(LIMITS)('%s bounds what ended tasks keep too', async (limit, { by }) => {
    const { task, fence } = await givenRunning(scene.store);
    const outcome = { kind: 'result', result: { text: textOf(10_000) } } as const;
    await scene.store.tasks.settle(settlement(task.id, { fence, outcome }));
    const { total } = await scene.store.tasks.keptBytes(ALICE);
    const request = bodyOf('');
    const more = ROWS + bytesOf(request.arguments, request.meta);
    const create = (most: number) =>
      scene.store.tasks.create(draftTask({ by, request, limits: { ...NO_LIMITS, [limit]: most } }));
    expect(await create(total + more - 1)).toEqual({ kind: 'full', limit, open: total });
    expect(await create(total + more)).toMatchObject({ kind: 'created' });
  });

  test('an outcome is always taken, whatever is kept already', async () => {
    const limits = { ...NO_LIMITS, bytesPerPrincipal: 3000 };
    const { task, fence } = await givenRunning(scene.store, { limits });
    const outcome = { kind: 'result', result: { text: textOf(10_000) } } as const;
    const settled = await scene.store.tasks.settle(settlement(task.id, { fence, outcome }));
    expect(settled.kind).toBe('settled');
    expect(await scene.store.tasks.create(draftTask({ limits }))).toMatchObject({
      kind: 'full',
      limit: 'bytesPerPrincipal',
    });
    scene.clock.advance(TTL_MS);
    await scene.store.tasks.sweepExpired(10);
    expect(await scene.store.tasks.create(draftTask({ limits }))).toMatchObject({
      kind: 'created',
    });
  });
}

function testQueueOfTool(scene: Scene): void {
  test('of many calls at once as many get in as may run and wait', async () => {
    const limits = { ...NO_LIMITS, queuedOfTool: 16, placesOfTool: 8 };
    const asked = Array.from({ length: 150 }, () =>
      scene.store.tasks.create(draftTask({ limits })),
    );
    const ends = await Promise.all(asked);
    expect(ends.filter(({ kind }) => kind === 'created')).toHaveLength(24);
    expect(ends.at(-1)).toEqual({ kind: 'full', limit: 'queuedOfTool', open: 16 });
  });

  test('a call that runs makes room for one that waits, as long as places are left', async () => {
    const limits = { ...NO_LIMITS, queuedOfTool: 1, placesOfTool: 1 };
    const first = await givenTask(scene.store, { limits });
    await givenTask(scene.store, { limits });
    const third = draftTask({ limits });
    expect(await scene.store.tasks.create(third)).toMatchObject({ kind: 'full', open: 1 });
    await givenClaim(scene.store, first.id);
    await scene.store.tasks.settle(settlement(first.id));
    expect(await scene.store.tasks.create(third)).toMatchObject({ kind: 'created' });
  });

  test('another tool has a queue of its own', async () => {
    const limits = { ...NO_LIMITS, queuedOfTool: 1 };
    await givenTask(scene.store, { limits });
    expect(await scene.store.tasks.create(draftTask({ limits }))).toMatchObject({ kind: 'full' });
    const other = draftTask({ limits, tool: 'echo' });
    expect(await scene.store.tasks.create(other)).toMatchObject({ kind: 'created' });
  });
}
