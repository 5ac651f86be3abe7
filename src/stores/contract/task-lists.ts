import { describe, expect, test } from 'vitest';
import type { Task } from '../../protocol/model.ts';
import type { Access } from '../access.ts';
import type { ListTasks } from '../tasks.ts';
import { givenRunning, givenTask, settlement } from './given.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';
import { useScene } from './scene.ts';

export function describeTaskLists(open: OpenScene): void {
  describe('list', () => {
    const scene = useScene(open);
    testOrder(scene);
    testFilters(scene);
  });
}

const idsOf = (tasks: readonly Task[]): readonly string[] => tasks.map(({ id }) => id);

/** All pages of a list, and how long each was. */
async function pagesOf(scene: Scene, access: Access, params: ListTasks) {
  const pages: (readonly Task[])[] = [];
  for (let after = params.after; ;) {
    const page = await scene.store.tasks.list(access, after ? { ...params, after } : params);
    const last = page.at(-1);
    if (last === undefined) return pages;
    pages.push(page);
    after = { createdAt: last.createdAt, id: last.id };
  }
}

function testOrder(scene: Scene): void {
  test('pages go from new to old without doubles or gaps, also among equals in time', async () => {
    const made: Task[] = [];
    for (const at of [5, 5, 5, 9, 9, 1, 1, 1, 1]) {
      scene.clock.set(at);
      made.push(await givenTask(scene.store, { handle: 'given', ttlMs: 1000 }));
      await givenTask(scene.store, { handle: 'given', ttlMs: 1000, by: BOB });
    }
    const newestFirst = made.toSorted(
      (a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1),
    );
    for (const withHandle of [true, false]) {
      const pages = await pagesOf(scene, ALICE, { limit: 2, withHandle });
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 2, 2, 1]);
      expect(idsOf(pages.flat())).toEqual(idsOf(newestFirst));
    }
    const everything = await pagesOf(scene, 'system', { limit: 4, withHandle: false });
    expect(everything.flat()).toHaveLength(18);
  });

  test('what is created while somebody pages does not shift the pages', async () => {
    const made = [];
    for (let count = 0; count < 4; count += 1) {
      scene.clock.advance(1);
      made.push(await givenTask(scene.store));
    }
    const params = { limit: 2, withHandle: false };
    const first = await scene.store.tasks.list(ALICE, params);
    scene.clock.advance(1);
    await givenTask(scene.store);
    const last = first.at(-1);
    const after = { createdAt: last?.createdAt ?? 0, id: last?.id ?? '' };
    const second = await scene.store.tasks.list(ALICE, { ...params, after });
    expect(idsOf([...first, ...second])).toEqual(idsOf(made.toReversed()));
  });

  test.each([0, 201, 1.5, Number.NaN])('a page of %d rows is refused', async (limit) => {
    await expect(scene.store.tasks.list(ALICE, { limit, withHandle: true })).rejects.toThrow(
      'broken invariant',
    );
  });
}

function testFilters(scene: Scene): void {
  test('an owner sees handles that left and those on their way, never an inline or a plain call', async () => {
    await givenTask(scene.store, { handle: 'inline' });
    await givenTask(scene.store, { origin: 'plain' });
    const pending = await givenTask(scene.store);
    const given = await givenTask(scene.store, { handle: 'given' });
    const list = async () =>
      idsOf(await scene.store.tasks.list(ALICE, { limit: 10, withHandle: true }));
    expect((await list()).toSorted()).toEqual([pending.id, given.id].toSorted());
    await scene.store.tasks.setHandle(pending.id, 'inline');
    expect(await list()).toEqual([given.id]);
  });

  test.each(['open', 'ended'] as const)('only %s tasks', async (phase) => {
    const ended = await givenRunning(scene.store);
    await scene.store.tasks.settle(settlement(ended.task.id, { fence: ended.fence }));
    const running = await givenTask(scene.store);
    const expected = phase === 'open' ? running.id : ended.task.id;
    for (const access of [ALICE, 'system'] as const) {
      const tasks = await scene.store.tasks.list(access, { limit: 10, withHandle: false, phase });
      expect(idsOf(tasks)).toEqual([expected]);
    }
  });

  test.each([ALICE, 'system'] as const)('the start of an id finds it (%j)', async (access) => {
    const task = await givenTask(scene.store, { handle: 'given' });
    await givenTask(scene.store, { by: BOB });
    const foreign = await givenTask(scene.store, { by: BOB, id: `${task.id}_too` });
    const list = async (idPrefix: string) => {
      const params = { limit: 10, withHandle: false, idPrefix };
      return new Set(idsOf(await scene.store.tasks.list(access, params)));
    };
    const mine = access === 'system' ? [task.id, foreign.id] : [task.id];
    expect(await list(task.id.slice(0, 12))).toEqual(new Set(mine));
    expect(await list(task.id)).toEqual(new Set(mine));
    expect(await list(`${task.id}x`)).toEqual(new Set());
    for (const wildcard of ['tsk_%', '%', '_', 'tsk?', 'TSK_']) {
      expect(await list(wildcard), wildcard).toEqual(new Set());
    }
  });

  test('the start of an id goes with the other filters', async () => {
    const inline = await givenTask(scene.store, { handle: 'inline', tool: 'echo' });
    const idPrefix = inline.id.slice(0, 12);
    const list = (params: Partial<ListTasks>) =>
      scene.store.tasks.list(ALICE, { limit: 10, withHandle: false, idPrefix, ...params });
    expect(await list({ tool: 'echo', phase: 'open' })).toHaveLength(1);
    expect(await list({ withHandle: true })).toEqual([]);
    expect(await list({ phase: 'ended' })).toEqual([]);
    scene.clock.advance(inline.ttlMs);
    expect(await list({})).toEqual([]);
  });

  test('an operator filters by tool and tenant', async () => {
    const mine = await givenTask(scene.store, { tool: 'echo' });
    const other = await givenTask(scene.store, { tool: 'echo', by: BOB });
    await givenTask(scene.store, { tool: 'add' });
    const list = (params: Partial<ListTasks>) =>
      scene.store.tasks.list('system', { limit: 10, withHandle: false, ...params });
    expect(new Set(idsOf(await list({ tool: 'echo' })))).toEqual(new Set([mine.id, other.id]));
    expect(idsOf(await list({ tool: 'echo', tenant: BOB.tenant }))).toEqual([other.id]);
    expect(await list({ tenant: 'nowhere' })).toEqual([]);
    expect(idsOf(await list({ tool: 'echo', phase: 'open', tenant: BOB.tenant }))).toEqual([
      other.id,
    ]);
  });
}
