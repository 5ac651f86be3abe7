import { describe, expect, test } from 'vitest';
import type { CreateTask } from '../tasks.ts';
import { draftTask, givenClaim, givenRunning, givenTask, NO_LIMITS } from './given.ts';
import { settlement, storyOf } from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { SCENE_START, useScene } from './scene.ts';

export function describeTaskCreation(open: OpenScene): void {
  describe('create', () => {
    const scene = useScene(open);
    testWhatIsWritten(scene);
    testLimits(scene);
    testUnreadable(scene);
    testExactBodies(scene);
  });
}

function testWhatIsWritten(scene: Scene): void {
  test('a created task is working and its owner can read it', async () => {
    const draft = draftTask({ asks: ['sampling', 'elicitation-url'] });
    const created = await scene.store.tasks.create(draft);
    const task = {
      ...draft.task,
      phase: 'working',
      createdAt: SCENE_START,
      updatedAt: SCENE_START,
      revision: 1,
    };
    expect(created).toEqual({ kind: 'created', task });
    expect(await scene.store.tasks.get(ALICE, draft.task.id)).toEqual(task);
  });

  test('request, operation, attempt and event are there with it', async () => {
    const draft = draftTask();
    await scene.store.tasks.create(draft);
    const { id, operationId = '' } = draft.task;
    expect(await scene.store.tasks.request(id)).toEqual(draft.request);
    expect(await scene.store.operations.get(ALICE, operationId)).toMatchObject({
      id: operationId,
      taskId: id,
      state: 'intended',
      effect: 'consequential',
      createdAt: SCENE_START,
      updatedAt: SCENE_START,
      ...ALICE,
    });
    expect(await scene.store.attempts.listOf(id)).toEqual([
      { id: draft.attemptId, taskId: id, number: 1, epoch: 0, state: 'queued' },
    ]);
    expect(await scene.store.events.list({ limit: 10 })).toMatchObject([
      { type: 'task.created', actor: ALICE.owner, tenant: ALICE.tenant, taskId: id, operationId },
    ]);
  });

  test('a read has no operation', async () => {
    const task = await givenTask(scene.store, { effect: 'read' });
    expect(task.operationId).toBeUndefined();
    expect(await scene.store.operations.list('system', { limit: 10 })).toEqual([]);
  });

  test('an id that is taken is refused and the first record stays', async () => {
    const first = draftTask();
    await scene.store.tasks.create(first);
    const second = draftTask({ id: first.task.id, by: BOB });
    await expect(scene.store.tasks.create(second)).rejects.toMatchObject({
      code: 'LONGCALL_STORE_FAILED',
      data: { written: 'no' },
    });
    expect(await scene.store.tasks.get(ALICE, first.task.id)).toMatchObject(ALICE);
    expect(await storyOf(scene.store, first.task.id)).toEqual(['task.created']);
    expect(await scene.store.operations.list('system', { limit: 10 })).toHaveLength(1);
  });
}

/** Requests that break their types, as a library's caller may hand them in. */
const UNREADABLE: readonly (readonly [what: string, request: unknown])[] = [
  ['a progress token that is no number', { arguments: {}, meta: {}, progressToken: Number.NaN }],
  [
    'an endless progress token',
    { arguments: {}, meta: {}, progressToken: Number.POSITIVE_INFINITY },
  ],
  ['a progress token of another kind', { arguments: {}, meta: {}, progressToken: { a: 1 } }],
  ['arguments that are a list', { arguments: [], meta: {} }],
  ['arguments that turn into text', { arguments: { toJSON: () => 'text' }, meta: {} }],
  ['arguments that turn into nothing', { arguments: { toJSON: () => undefined }, meta: {} }],
  ['no meta', { arguments: {}, meta: null }],
];

function testUnreadable(scene: Scene): void {
  test.each(UNREADABLE)('%s cannot be run later, so it gets no record', async (_what, request) => {
    const draft = { ...draftTask(), request: request as CreateTask['request'] };
    const beside = draftTask();
    const [refused, created] = await Promise.allSettled([
      scene.store.tasks.create(draft),
      scene.store.tasks.create(beside),
    ]);
    expect(refused.status).toBe('rejected');
    expect(created).toMatchObject({ status: 'fulfilled', value: { kind: 'created' } });
    expect(await scene.store.tasks.get('system', draft.task.id)).toBeUndefined();
    expect(await givenClaim(scene.store, beside.task.id)).toMatchObject({ epoch: 1 });
  });
}

function testLimits(scene: Scene): void {
  const LIMITS = [
    ['perPrincipal', { by: ALICE }],
    ['perTenant', { by: { owner: 'prn_carol', tenant: ALICE.tenant } }],
    ['total', { by: BOB }],
  ] as const;

  test.each(LIMITS)('%s is kept, and a refused create leaves nothing', async (limit, draft) => {
    const limits = { ...NO_LIMITS, [limit]: 2 };
    await givenTask(scene.store);
    await givenTask(scene.store);
    const before = await scene.store.events.list({ limit: 10 });
    const refused = draftTask({ ...draft, limits });
    expect(await scene.store.tasks.create(refused)).toEqual({ kind: 'full', limit, open: 2 });
    expect(await scene.store.tasks.get('system', refused.task.id)).toBeUndefined();
    expect(await scene.store.attempts.queuedCount()).toBe(2);
    expect(await scene.store.events.list({ limit: 10 })).toEqual(before);
    expect(await scene.store.operations.list('system', { limit: 10 })).toHaveLength(2);
  });

  test('one tenant full leaves the other one room', async () => {
    const limits = { ...NO_LIMITS, perTenant: 1 };
    await givenTask(scene.store, { limits });
    expect(await scene.store.tasks.create(draftTask({ limits, by: BOB }))).toMatchObject({
      kind: 'created',
    });
    expect(await scene.store.tasks.create(draftTask({ limits }))).toMatchObject({ kind: 'full' });
  });

  test('a task that ends makes room', async () => {
    const limits = { ...NO_LIMITS, perPrincipal: 1 };
    const { task, fence } = await givenRunning(scene.store, { limits });
    await scene.store.tasks.settle(settlement(task.id, { fence }));
    expect(await scene.store.tasks.create(draftTask({ limits }))).toMatchObject({
      kind: 'created',
    });
  });

  test('as many as the limit allows get in when many ask at once', async () => {
    const limits = { ...NO_LIMITS, perPrincipal: 5 };
    const asked = Array.from({ length: 40 }, () => scene.store.tasks.create(draftTask({ limits })));
    const created = (await Promise.all(asked)).filter(({ kind }) => kind === 'created');
    expect(created).toHaveLength(5);
    expect(await scene.store.tasks.counts()).toEqual({ working: 5, inputRequired: 0, ended: 0 });
  });
}

/** JSON that does not survive careless storing. */
const AWKWARD = {
  '': 'empty name',
  text: 'ünï\u0000cödé \u2028 𝄞 "quoted" \\ \ud800 half',
  numbers: [0, -1, 1.5, 1e300, 2 ** 53 - 1],
  nested: { list: [[], {}, [null, true, false]], __proto__x: 1 },
};

function testExactBodies(scene: Scene): void {
  test('arguments, metadata and outcome come back as they were', async () => {
    const request = { arguments: AWKWARD, meta: { 'com.example/x': AWKWARD }, progressToken: 0 };
    const { task, fence } = await givenRunning(scene.store, { request });
    expect(await scene.store.tasks.request(task.id)).toEqual(request);
    const outcome = { kind: 'result', result: AWKWARD } as const;
    await scene.store.tasks.settle(settlement(task.id, { fence, outcome }));
    await scene.reopen();
    expect(await scene.store.tasks.outcome(ALICE, task.id)).toEqual(outcome);
    expect(await scene.store.tasks.request(task.id)).toEqual(request);
  });

  test('the order of members is kept', async () => {
    const args = { z: 1, a: { y: 1, b: 2 } };
    const task = await givenTask(scene.store, { request: { arguments: args, meta: {} } });
    const request = await scene.store.tasks.request(task.id);
    expect(JSON.stringify(request?.arguments)).toBe(JSON.stringify(args));
  });

  test('a body of many megabytes is stored and comes back', async () => {
    const { task, fence } = await givenRunning(scene.store);
    const text = 'x'.repeat(8 * 1024 * 1024);
    const outcome = { kind: 'result', result: { content: [{ type: 'text', text }] } } as const;
    await scene.store.tasks.settle(settlement(task.id, { fence, outcome }));
    expect(await scene.store.tasks.outcome(ALICE, task.id)).toEqual(outcome);
  });
}
