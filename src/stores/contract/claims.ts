import { describe, expect, test } from 'vitest';
import type { ClaimAttempts, ClaimedAttempt } from '../attempts.ts';
import { BOOT, freshAttemptId, givenTask, LEASE_MS, settlement } from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { Person } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

export function describeClaims(open: OpenScene): void {
  describe('claim', () => {
    const scene = useScene(open);
    testWhatIsClaimed(scene);
    testToolCaps(scene);
    testFairness(scene);
  });
}

function claim(scene: Scene, params: Partial<ClaimAttempts> = {}) {
  const all = { owner: BOOT, leaseMs: LEASE_MS, limit: 100, runningPerTool: {}, ...params };
  return scene.store.attempts.claim(all);
}

const taskIdsOf = (claimed: readonly ClaimedAttempt[]) => claimed.map(({ task }) => task.id);
const ownersOf = (claimed: readonly ClaimedAttempt[]) => claimed.map(({ task }) => task.owner);

/** Ends what was claimed, so that its place is free again. */
async function finish(scene: Scene, claimed: readonly ClaimedAttempt[]): Promise<void> {
  for (const { task } of claimed) await scene.store.tasks.settle(settlement(task.id));
}

async function flood(scene: Scene, count: number, by: Person): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    scene.clock.advance(1);
    await givenTask(scene.store, { by });
  }
}

function testWhatIsClaimed(scene: Scene): void {
  test('a claim hands out attempt, task and request, under a lease', async () => {
    const request = {
      arguments: { a: 1 },
      meta: {},
      progressToken: 'token',
      subject: 'alice',
    };
    const task = await givenTask(scene.store, { request });
    const [claimed, ...others] = await claim(scene);
    expect(others).toEqual([]);
    expect(claimed).toMatchObject({ task, request });
    expect(claimed?.attempt).toMatchObject({
      taskId: task.id,
      number: 1,
      epoch: 1,
      state: 'running',
      owner: BOOT,
      leaseUntil: SCENE_START + LEASE_MS,
    });
    expect(await scene.store.attempts.listOf(task.id)).toEqual([claimed?.attempt]);
    expect(await scene.store.attempts.queuedCount()).toBe(0);
  });

  test('the oldest tasks of a principal go first, no more than asked for', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      scene.clock.advance(1);
      ids.push((await givenTask(scene.store)).id);
    }
    expect(taskIdsOf(await claim(scene, { limit: 2 }))).toEqual(ids.slice(0, 2));
    expect(await scene.store.attempts.queuedCount()).toBe(3);
    expect(taskIdsOf(await claim(scene))).toEqual(ids.slice(2));
    expect(await claim(scene)).toEqual([]);
  });

  test('no attempt is handed out twice, however many claim at once', async () => {
    await Promise.all(Array.from({ length: 30 }, () => givenTask(scene.store)));
    const claims = Array.from({ length: 12 }, (_, index) =>
      claim(scene, { owner: `boot_${index}`, limit: 7 }),
    );
    const ids = taskIdsOf((await Promise.all(claims)).flat());
    expect(ids).toHaveLength(30);
    expect(new Set(ids).size).toBe(30);
  });

  test('a task that ended while it waited is not claimed', async () => {
    const task = await givenTask(scene.store);
    await scene.store.tasks.settle(settlement(task.id, { callEnd: 'cancelled' }));
    expect(await claim(scene)).toEqual([]);
  });
}

function testToolCaps(scene: Scene): void {
  test('a tool runs no more attempts than its cap, over all claims and owners', async () => {
    for (let count = 0; count < 5; count += 1) await givenTask(scene.store, { tool: 'slow' });
    const runningPerTool = { slow: 2 };
    const first = await claim(scene, { runningPerTool, limit: 1 });
    const second = await claim(scene, { runningPerTool, owner: 'boot_two' });
    expect([...first, ...second]).toHaveLength(2);
    expect(await claim(scene, { runningPerTool })).toEqual([]);
    await finish(scene, first);
    expect(await claim(scene, { runningPerTool })).toHaveLength(1);
    expect(await scene.store.attempts.queuedCount()).toBe(2);
  });

  test('a full tool does not hold up the others, nor one without a cap', async () => {
    for (let count = 0; count < 3; count += 1) await givenTask(scene.store, { tool: 'slow' });
    await givenTask(scene.store, { tool: 'quick' });
    await givenTask(scene.store, { tool: 'constructor' });
    const claimed = await claim(scene, { runningPerTool: { slow: 1, quick: 1, other: 0 } });
    const tools = claimed.map(({ task }) => task.tool);
    expect(tools.toSorted()).toEqual(['constructor', 'quick', 'slow']);
  });

  test('tools that are not named may have a cap of their own each', async () => {
    for (const tool of ['slow', 'slow', 'quick', 'quick', 'constructor'])
      await givenTask(scene.store, { tool });
    const caps = { runningPerTool: { slow: 2 }, runningPerOtherTool: 1 };
    const claimed = await claim(scene, caps);
    const tools = claimed.map(({ task }) => task.tool);
    expect(tools.toSorted()).toEqual(['constructor', 'quick', 'slow', 'slow']);
    expect(await claim(scene, caps)).toEqual([]);
  });

  test('the order holds across tools', async () => {
    const tools = ['slow', 'echo', 'wait', 'add'];
    for (const tool of tools) await givenTask(scene.store, { tool });
    const claimed = [...(await claim(scene, { limit: 3 })), ...(await claim(scene))];
    expect(claimed.map(({ task }) => task.tool)).toEqual(tools);
  });

  test('what waits for an upstream that is not to be had goes on waiting, and holds up nothing', async () => {
    for (const upstream of ['away', 'here', 'away'])
      await givenTask(scene.store, { tool: 'slow', upstream });
    const claimed = await claim(scene, { exceptUpstreams: ['away', 'elsewhere'], limit: 1 });
    expect(claimed.map(({ task }) => task.upstream)).toEqual(['here']);
    expect(await claim(scene, { exceptUpstreams: ['away'] })).toEqual([]);
    expect(await claim(scene, { exceptUpstreams: [] })).toHaveLength(2);
  });

  test('a cap of nothing lets nothing run', async () => {
    await givenTask(scene.store, { tool: 'slow' });
    expect(await claim(scene, { runningPerTool: { slow: 0 } })).toEqual([]);
  });
}

function testFairness(scene: Scene): void {
  test('a flood of one principal delays another one by one place at most', async () => {
    await flood(scene, 50, ALICE);
    await flood(scene, 1, BOB);
    expect(ownersOf(await claim(scene, { limit: 2 }))).toContain(BOB.owner);
  });

  test('also when places come free one at a time and runs are short', async () => {
    await flood(scene, 50, ALICE);
    for (let served = 0; served < 10; served += 1) {
      await finish(scene, await claim(scene, { limit: 1 }));
    }
    await flood(scene, 20, BOB);
    const owners: string[] = [];
    for (let served = 0; served < 10; served += 1) {
      const claimed = await claim(scene, { limit: 1 });
      owners.push(...ownersOf(claimed));
      await finish(scene, claimed);
    }
    expect(owners.slice(0, 2)).toContain(BOB.owner);
    expect(owners.filter((owner) => owner === BOB.owner)).toHaveLength(5);
  });

  test('who always comes back with one more gets no more than a share', async () => {
    await flood(scene, 10, ALICE);
    const owners: string[] = [];
    for (let served = 0; served < 12; served += 1) {
      await flood(scene, 1, BOB);
      const claimed = await claim(scene, { limit: 1 });
      owners.push(...ownersOf(claimed));
      await finish(scene, claimed);
    }
    const shares = owners.filter((owner) => owner === ALICE.owner).length;
    expect(shares).toBeGreaterThanOrEqual(5);
    expect(shares).toBeLessThanOrEqual(7);
  });

  test('a requeued attempt keeps its place before what came later', async () => {
    await flood(scene, 3, ALICE);
    const [first] = await claim(scene, { limit: 1 });
    const { id: attemptId = '', epoch = 0, taskId = '' } = first?.attempt ?? {};
    const next = freshAttemptId();
    await scene.store.attempts.requeue({ taskId, attemptId, epoch }, next, 'lost');
    const [again] = await claim(scene, { limit: 1 });
    expect(again?.attempt).toMatchObject({ id: next, taskId });
  });
}
