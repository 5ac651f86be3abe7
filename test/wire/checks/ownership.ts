import { after, defineCheck, must, mustEqual, newTag } from '../check.ts';
import type { Reply } from '../client.ts';
import { createClient2026, openSession, replyOf } from '../client.ts';
import {
  callAsTask,
  createTask,
  getTask,
  getTask2025,
  objectAt,
  reaches,
  reaches2025,
  resultOf,
  tells,
  textOf,
} from '../steps.ts';

const UNKNOWN = 'AAAAAAAAAAAAAAAAAAAAAAAA';
const QUIET_MS = 500;
const YES = { action: 'accept', content: { confirm: true } };

/** An error with the id that was asked for taken out, so that two can be compared. */
const withoutId = ({ status, error }: Reply, taskId: unknown): string =>
  JSON.stringify({ status, error }).replaceAll(String(taskId), 'ID');

/** Whose task it is: two people of two tenants, sessions, and the two generations. */
export const OWNERSHIP = [
  defineCheck(
    {
      id: '2025-foreign-task',
      requirements: ['G1-99', 'G1-100', 'G1-62', 'T13'],
      title: "somebody else's task looks like one that does not exist, and is left alone",
    },
    async ({ alice, bob }) => {
      const [session, other] = await Promise.all([openSession(alice), openSession(bob)]);
      const { taskId } = await createTask(session, 'confirm_delete', {
        args: { filename: newTag('file') },
      });
      await reaches2025(session, taskId, 'input_required');
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        const foreign = await other.request(method, { taskId });
        const unknown = await other.request(method, { taskId: UNKNOWN });
        mustEqual(foreign.error?.code, -32_602, `the code of ${method}`);
        mustEqual(
          withoutId(foreign, taskId),
          withoutId(unknown, UNKNOWN),
          `the error of ${method}`,
        );
      }
      mustEqual(
        (await getTask2025(session, taskId))['status'],
        'input_required',
        'the status afterwards',
      );
      await session.request('tasks/cancel', { taskId });
    },
  ),
  defineCheck(
    {
      id: '2026-foreign-task',
      requirements: ['G2-81', 'G2-125', 'G2-126', 'G2-127', 'T13'],
      title: 'the same on 2026-07-28, for get, update and cancel',
    },
    async ({ alice, bob }) => {
      const [client, other] = [createClient2026(alice), createClient2026(bob)];
      const taskId = await callAsTask(client, 'confirm_delete', {
        args: { filename: newTag('file') },
      });
      const { inputRequests } = await reaches(client, taskId, 'input_required');
      const inputResponses = Object.fromEntries(
        Object.keys(inputRequests as object).map((key) => [key, YES]),
      );
      for (const [method, more] of [
        ['tasks/get', {}],
        ['tasks/update', { inputResponses }],
        ['tasks/cancel', {}],
      ] as const) {
        const foreign = await other.request(method, { taskId, ...more });
        const unknown = await other.request(method, { taskId: UNKNOWN, ...more });
        mustEqual(foreign.error?.code, -32_602, `the code of ${method}`);
        mustEqual(
          withoutId(foreign, taskId),
          withoutId(unknown, UNKNOWN),
          `the error of ${method}`,
        );
      }
      mustEqual(
        (await getTask(client, taskId))['status'],
        'input_required',
        'the status afterwards',
      );
      await client.request('tasks/cancel', { taskId });
    },
  ),
  defineCheck(
    {
      id: '2026-foreign-listen',
      requirements: ['G2-99', 'G2-101', 'G2-125', 'T36'],
      title: "listening to somebody else's task hears nothing of it",
    },
    async ({ alice, bob }) => {
      const [client, other] = [createClient2026(alice), createClient2026(bob)];
      const taskId = await callAsTask(client, 'slow_compute', {
        args: {
          seconds: 0.3,
          label: newTag('private'),
        },
      });
      const own = await callAsTask(other, 'slow_compute', {
        args: { seconds: 0.6, label: newTag('own') },
      });
      const stream = await other.open('subscriptions/listen', {
        notifications: { taskIds: [taskId, own] },
      });
      const acknowledged = await stream.waitFor(
        tells('notifications/subscriptions/acknowledged'),
        'the acknowledgement',
      );
      const accepted = objectAt(objectAt(acknowledged, 'params'), 'notifications');
      mustEqual(accepted['taskIds'], [own], 'the accepted tasks');
      await reaches(client, taskId, 'completed');
      await after(QUIET_MS);
      must(!JSON.stringify(stream.received).includes(taskId), 'the foreign task was told');
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2025-session-is-no-identity',
      requirements: ['G1-104', 'G1-62', 'T12'],
      title: "somebody else's session id opens nothing",
    },
    async ({ alice, bob }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'structured_job');
      const stolen = await session.open(
        'tasks/get',
        { taskId },
        { authorization: bob.headers['authorization'] },
      );
      await stolen.ended;
      must([401, 403, 404].includes(stolen.status), `HTTP status is ${stolen.status}`);
      must(!JSON.stringify(stolen.received).includes('"result"'), 'the task was shown');
    },
  ),
  defineCheck(
    {
      id: 'both-generations-read-one-task',
      requirements: ['T38', 'G1-38', 'G2-44', 'G2-41', 'G2-43'],
      title: 'a task can be read from the other generation, in its words',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const failing = await createTask(session, 'failing_job');
      const broken = await callAsTask(client, 'protocol_error_job');
      await reaches2025(session, failing['taskId'], 'failed');
      const modern = await reaches(client, String(failing['taskId']), 'completed');
      mustEqual(objectAt(modern, 'result')['isError'], true, 'isError on 2026-07-28');
      const detailed = await reaches(client, broken, 'failed');
      const reply = await session.request('tasks/result', { taskId: broken });
      mustEqual(reply.error, detailed['error'], 'the error on 2025-11-25');
    },
  ),
  defineCheck(
    {
      id: 'both-generations-answer-once',
      requirements: ['T38', 'G1-45', 'G2-54', 'G2-50'],
      title: 'a question can be answered from either generation, once',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const filename = newTag('file');
      const { taskId } = await createTask(session, 'confirm_delete', { args: { filename } });
      const { inputRequests } = await reaches(client, String(taskId), 'input_required');
      const [key = ''] = Object.keys(inputRequests as object);
      const update = (answer: object) =>
        client.request('tasks/update', { taskId, inputResponses: { [key]: answer } });
      resultOf(await update(YES), 'tasks/update');
      resultOf(await update({ action: 'decline' }), 'the second tasks/update');
      const waiting = await session.open('tasks/result', { taskId });
      const reply = await replyOf(waiting, waiting.id);
      mustEqual(textOf(reply.result), `Deleted ${filename}`, 'the result');
    },
  ),
  defineCheck(
    {
      id: 'ids-cannot-be-guessed',
      requirements: ['G1-17', 'G1-18', 'G1-101', 'G2-18', 'T41'],
      title: 'task ids are long, unlike each other and fit for a header',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const ids: string[] = [];
      for (let made = 0; made < 4; made += 1) {
        ids.push(String((await createTask(session, 'structured_job'))['taskId']));
        ids.push(await callAsTask(client, 'structured_job'));
      }
      for (const id of ids) must(FIT_FOR_HEADER.test(id), `the id ${id} is short or not URL-safe`);
      for (const [index, id] of ids.entries()) {
        const nearest = Math.min(
          ...ids.filter((_, other) => other !== index).map((other) => distance(id, other)),
        );
        must(
          nearest >= DIFFERING_PLACES_MIN,
          `two ids differ in ${nearest} places only, one is ${id}`,
        );
      }
    },
  ),
];

/** 128 random bits take 22 characters of base64url. */
const FIT_FOR_HEADER = /^[A-Za-z0-9_.~-]{22,}$/;
/** Of 22 random characters two ids share hardly any at the same place; a counter or a clock shares nearly all. */
const DIFFERING_PLACES_MIN = 12;

function distance(one: string, other: string): number {
  const places = Math.max(one.length, other.length);
  return Array.from({ length: places }, (_, place) => one[place] !== other[place]).filter(Boolean)
    .length;
}
