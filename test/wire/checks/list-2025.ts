import type { WireTarget } from '../check.ts';
import { defineCheck, must, mustEqual } from '../check.ts';
import type { Session2025 } from '../client.ts';
import { openSession } from '../client.ts';
import {
  createTask,
  getTask2025,
  mustHaveTimes,
  mustRefuse,
  relatedTask,
  resultOf,
} from '../steps.ts';

type Json = Readonly<Record<string, unknown>>;

/** Every page of the caller's list. */
async function walkList(session: Session2025): Promise<{ tasks: Json[]; cursors: unknown[] }> {
  const tasks: Json[] = [];
  const cursors: unknown[] = [];
  let params: Json = {};
  for (;;) {
    const page = resultOf(await session.request('tasks/list', params), 'tasks/list');
    tasks.push(...(page['tasks'] as Json[]));
    must(relatedTask(page) === undefined, 'tasks/list carries related-task metadata');
    const { nextCursor } = page;
    if (nextCursor === undefined) return { tasks, cursors };
    must(!cursors.includes(nextCursor), 'the same cursor came twice');
    cursors.push(nextCursor);
    params = { cursor: nextCursor };
  }
}

/** Makes enough tasks for a second page. */
async function fillAPage(session: Session2025, { listPageSize }: WireTarget): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (let made = 0; made <= listPageSize; made += 1) {
    ids.push((await createTask(session, 'structured_job'))['taskId']);
  }
  return ids;
}

/** Listing on 2025-11-25. */
export const LIST_2025 = [
  defineCheck(
    {
      id: '2025-list-is-complete',
      requirements: ['G1-75', 'G1-76', 'G1-78', 'G1-137', 'T14'],
      title: 'the pages of tasks/list hold every task that can be read, each once',
    },
    async (target) => {
      const session = await openSession(target.alice);
      const made = await fillAPage(session, target);
      const { tasks, cursors } = await walkList(session);
      const listed = tasks.map(({ taskId }) => taskId);
      for (const id of made)
        mustEqual(
          listed.filter((found) => found === id).length,
          1,
          `how often ${String(id)} is listed`,
        );
      mustEqual(new Set(listed).size, listed.length, 'the number of different tasks');
      must(cursors.length > 0, `${listed.length} tasks came in one page`);
      const [first] = tasks;
      must(first, 'the list is empty');
      mustHaveTimes(first);
      mustEqual(
        (await getTask2025(session, first['taskId']))['taskId'],
        first['taskId'],
        'a listed task',
      );
    },
  ),
  defineCheck(
    {
      id: '2025-list-is-isolated',
      requirements: ['G1-79', 'G1-99', 'G1-100'],
      title: "a list holds nobody else's tasks",
    },
    async ({ alice, bob }) => {
      const { taskId } = await createTask(await openSession(alice), 'structured_job');
      const own = await openSession(bob);
      const mine = await createTask(own, 'structured_job');
      const listed = (await walkList(own)).tasks.map((task) => task['taskId']);
      must(listed.includes(mine['taskId']), 'the own task is not listed');
      must(!listed.includes(taskId), "somebody else's task is listed");
    },
  ),
  defineCheck(
    {
      id: '2025-cursor-is-checked',
      requirements: ['G1-91', 'T14'],
      title: "a cursor that was made up, or is somebody else's, is refused with -32602",
    },
    async (target) => {
      const session = await openSession(target.alice);
      await fillAPage(session, target);
      const { nextCursor } = resultOf(await session.request('tasks/list'), 'tasks/list');
      for (const cursor of ['made-up', `${String(nextCursor)}x`, 7]) {
        mustRefuse(
          await session.request('tasks/list', { cursor }),
          -32_602,
          `the cursor ${JSON.stringify(cursor)}`,
        );
      }
      const other = await openSession(target.bob);
      mustRefuse(
        await other.request('tasks/list', { cursor: nextCursor }),
        -32_602,
        "somebody else's cursor",
      );
    },
  ),
];
