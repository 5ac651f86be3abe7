import { after, defineCheck, eventually, must, mustEqual, newTag } from '../check.ts';
import type { WireTarget } from '../check.ts';
import { openSession, replyOf } from '../client.ts';
import {
  createTask,
  getTask2025,
  mustHaveStatus,
  mustHaveTimes,
  mustRefuse,
  reaches2025,
  resultOf,
  textOf,
} from '../steps.ts';

const LONG_S = 30;
const QUIET_MS = 700;

/** Waits until the work with this tag has come to this point. */
const effect = ({ effects }: WireTarget, tag: string, event: string): Promise<true> =>
  eventually(
    () => (effects(tag).some((line) => line.event === event) ? (true as const) : undefined),
    `${event} of ${tag}`,
  );

/** Cancelling on 2025-11-25: a record that changes at once, and work that stops. */
export const CANCEL_2025 = [
  defineCheck(
    {
      id: '2025-cancel',
      requirements: ['G1-67', 'G1-68', 'T9'],
      title: 'cancel answers with the full task, already cancelled, and stops the work',
    },
    async (target) => {
      const session = await openSession(target.alice);
      const label = newTag('cancel');
      const { taskId } = await createTask(session, 'slow_compute', {
        args: { seconds: LONG_S, label },
      });
      await effect(target, label, 'tick');
      const task = resultOf(await session.request('tasks/cancel', { taskId }), 'tasks/cancel');
      mustEqual(task['taskId'], taskId, 'the task in the answer');
      mustEqual(task['status'], 'cancelled', 'the status in the answer');
      mustHaveTimes(task);
      mustEqual(
        (await getTask2025(session, taskId))['status'],
        'cancelled',
        'the status afterwards',
      );
      await effect(target, label, 'cancelled');
    },
  ),
  defineCheck(
    {
      id: '2025-cancel-of-terminal',
      requirements: ['G1-22', 'G1-66', 'G1-92'],
      title: 'cancelling what has ended is refused with -32602 and changes nothing',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const before = await reaches2025(session, taskId, 'completed');
      mustRefuse(
        await session.request('tasks/cancel', { taskId }),
        -32_602,
        'cancel of a completed task',
      );
      mustEqual(await getTask2025(session, taskId), before, 'the task afterwards');
      const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
      mustEqual(result['structuredContent'], { answer: 42 }, 'the result afterwards');
    },
  ),
  defineCheck(
    {
      id: '2025-cancelled-stays',
      requirements: ['G1-21', 'G1-22', 'G1-69', 'T9'],
      title: 'a cancelled task stays cancelled when its work finishes all the same',
    },
    async (target) => {
      const session = await openSession(target.alice);
      const label = newTag('stubborn');
      const { taskId } = await createTask(session, 'stubborn_job', { args: { label } });
      await effect(target, label, 'start');
      await session.request('tasks/cancel', { taskId });
      await effect(target, label, 'finish');
      await after(QUIET_MS);
      mustEqual(
        (await getTask2025(session, taskId))['status'],
        'cancelled',
        'the status after the work finished',
      );
      mustRefuse(
        await session.request('tasks/result', { taskId }),
        -32_603,
        'tasks/result after the work finished',
      );
    },
  ),
  defineCheck(
    {
      id: '2025-result-of-cancelled',
      requirements: ['T5', 'G1-36'],
      title: 'who waits for the result of a task that is cancelled gets -32603, then and later',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const args = { seconds: LONG_S, label: newTag('waiting') };
      const { taskId } = await createTask(session, 'slow_compute', { args });
      const waiting = await session.open('tasks/result', { taskId });
      await session.request('tasks/cancel', { taskId });
      mustRefuse(await replyOf(waiting, waiting.id), -32_603, 'the call that waited');
      mustRefuse(await session.request('tasks/result', { taskId }), -32_603, 'the later call');
    },
  ),
  defineCheck(
    {
      id: '2025-disconnect-is-no-cancel',
      requirements: ['G1-72', 'G1-40'],
      title: 'a client that goes away cancels neither its call nor its task',
    },
    async (target) => {
      const session = await openSession(target.alice);
      const [plain, tasked] = [newTag('plain'), newTag('tasked')];
      const call = await session.open('tools/call', {
        name: 'slow_compute',
        arguments: { seconds: 1, label: plain },
      });
      const { taskId } = await createTask(session, 'slow_compute', {
        args: { seconds: 1, label: tasked },
      });
      const waiting = await session.open('tasks/result', { taskId });
      await effect(target, plain, 'tick');
      call.close();
      waiting.close();
      await effect(target, plain, 'finish');
      await effect(target, tasked, 'finish');
      await reaches2025(session, taskId, 'completed');
    },
  ),
  defineCheck(
    {
      id: '2025-notification-cancels-no-task',
      requirements: ['G1-64', 'G1-74'],
      title: 'notifications/cancelled for the request that created a task leaves the task alone',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const args = { seconds: 0.7, label: newTag('notified') };
      const created = await session.open('tools/call', {
        name: 'slow_compute',
        arguments: args,
        task: {},
      });
      const reply = await replyOf(created, created.id);
      const { taskId } = (reply.result?.['task'] ?? {}) as { taskId?: string };
      for (const requestId of [created.id, 'no-such-request']) {
        const params = { requestId, reason: 'enough' };
        const told = await session.post({ method: 'notifications/cancelled', params });
        mustHaveStatus(told, 202, 'HTTP status');
      }
      const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
      must(textOf(result).includes('computed'), `the result is ${JSON.stringify(result)}`);
    },
  ),
  defineCheck(
    {
      id: '2025-notification-cancels-plain-call',
      requirements: ['G1-73', 'G1-74'],
      title: 'notifications/cancelled stops the work of a plain call',
    },
    async (target) => {
      const session = await openSession(target.alice);
      const label = newTag('plain-cancelled');
      const args = { seconds: LONG_S, label };
      const call = await session.open('tools/call', { name: 'slow_compute', arguments: args });
      await effect(target, label, 'tick');
      await session.post({ method: 'notifications/cancelled', params: { requestId: call.id } });
      await effect(target, label, 'cancelled');
      call.close();
    },
  ),
];
