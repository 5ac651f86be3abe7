import { after, defineCheck, eventually, must, mustEqual, untested } from '../check.ts';
import { createClient2026, openSession } from '../client.ts';
import { callAsTask, createTask, getTask, getTask2025, mustRefuse, resultOf } from '../steps.ts';

/** Longer than this a check does not wait for a record to expire. */
const WAIT_MS_MAX = 5_000;
/** How much earlier than promised a record may seem to go, for the sake of two clocks that are read apart. */
const CLOCK_SLACK_MS = 100;

/** Records that expire. */
export const EXPIRY = [
  defineCheck(
    {
      id: 'record-expires',
      requirements: ['G1-87', 'G1-88', 'G1-90', 'G2-111', 'G2-113', 'T6', 'T7', 'T33'],
      title:
        'a record stays until its ttl has passed since creation, and then every method agrees that it is gone',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const task = await createTask(session, 'short_lived_job');
      const ttl = Number(task['ttl']);
      if (!(ttl <= WAIT_MS_MAX))
        return untested(`this target keeps every record for at least ${ttl} ms`);
      const goneAt = Date.parse(String(task['createdAt'])) + ttl;
      const taskId = String(task['taskId']);
      while (Date.now() < goneAt - 2 * CLOCK_SLACK_MS) {
        const read = await session.request('tasks/get', { taskId });
        must(
          read.result || Date.now() > goneAt - CLOCK_SLACK_MS,
          'the record went before its time',
        );
        await after(CLOCK_SLACK_MS);
      }
      await eventually(
        async () => ((await session.request('tasks/get', { taskId })).error ? true : undefined),
        'the record to expire',
      );
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        mustRefuse(
          await session.request(method, { taskId }),
          -32_602,
          `${method} of an expired task`,
        );
      }
      mustRefuse(await client.request('tasks/get', { taskId }), -32_602, 'tasks/get on 2026-07-28');
      const { tasks } = resultOf(await session.request('tasks/list'), 'tasks/list');
      must(!JSON.stringify(tasks).includes(taskId), 'the expired task is listed');
    },
  ),
  defineCheck(
    {
      id: 'ttl-is-said-alike',
      requirements: ['G1-86', 'G2-20', 'G2-109', 'T6'],
      title:
        'both generations say how long a record is kept, as a number of milliseconds since its creation',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'structured_job');
      const modern = await getTask(client, taskId);
      const legacy = await getTask2025(session, taskId);
      must(
        modern['ttlMs'] === null || Number.isInteger(modern['ttlMs']),
        `ttlMs is ${JSON.stringify(modern['ttlMs'])}`,
      );
      mustEqual(legacy['ttl'], modern['ttlMs'], 'ttl on 2025-11-25');
      mustEqual(legacy['createdAt'], modern['createdAt'], 'createdAt on 2025-11-25');
      must(
        modern['ttl'] === undefined && modern['pollInterval'] === undefined,
        'names of 2025-11-25 stand on 2026-07-28',
      );
    },
  ),
];
