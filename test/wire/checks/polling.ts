import { defineCheck, must, mustEqual, newTag } from '../check.ts';
import { createClient2026, openSession } from '../client.ts';
import { createTask } from '../steps.ts';

const POLLS = 30;

/** How often a task may be looked at. */
export const POLLING = [
  defineCheck(
    {
      id: 'eager-polls-are-answered',
      requirements: ['G2-35', 'T31'],
      title: 'who polls faster than the hint is answered all the same, in both generations',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const args = { seconds: 30, label: newTag('eager') };
      const { taskId, pollInterval } = await createTask(session, 'slow_compute', { args });
      const began = Date.now();
      for (let poll = 0; poll < POLLS; poll += 1) {
        for (const ask of [session, client]) {
          const { status, result, error } = await ask.request('tasks/get', { taskId });
          must(result, `poll ${poll} was refused: ${JSON.stringify(error)}`);
          must(status < 400, `poll ${poll} was answered with HTTP ${status}`);
          mustEqual(result['status'], 'working', 'the status');
        }
      }
      const eachMs = (Date.now() - began) / (2 * POLLS);
      const hintMs = Number(pollInterval ?? 0);
      must(!(hintMs > 0) || eachMs < hintMs, `polls of ${eachMs} ms are not faster than the hint`);
      await session.request('tasks/cancel', { taskId });
    },
  ),
];
