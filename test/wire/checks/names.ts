import type { Message } from '../channel.ts';
import { defineCheck, mustEqual, newTag } from '../check.ts';
import { createClient2026, openSession, replyOf, TASKS_EXTENSION } from '../client.ts';
import {
  callAsTask,
  createTask,
  objectAt,
  RELATED_TASK,
  resultOf,
  SUBSCRIPTION,
} from '../steps.ts';

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
const IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response';

/** Every name of the protocol's own that a server may write, by where it stands. */
const DEFINED = {
  meta: [RELATED_TASK, SUBSCRIPTION, SERVER_INFO, IMMEDIATE_RESPONSE, 'progressToken'],
  extensions: [TASKS_EXTENSION],
  resultTypes: ['complete', 'input_required', 'task'],
  aboutTasks: ['notifications/tasks', 'notifications/tasks/status'],
};

/** Whether the protocol keeps a prefix for itself: its second label is `mcp` or `modelcontextprotocol` (T40). */
const isReserved = (name: string): boolean =>
  /^[^./]+\.(?:mcp|modelcontextprotocol)[./]/.test(name);

/** The names under a member, wherever it stands in a message. */
function namesUnder(value: unknown, member: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === member ? Object.keys(objectAt(value, key)) : []),
    ...namesUnder(inner, member),
  ]);
}

function inventions(messages: readonly Message[]): string[] {
  const meta = namesUnder(messages, '_meta').filter(isReserved);
  const extensions = namesUnder(messages, 'extensions').filter(isReserved);
  const types = messages
    .map((message) => objectAt(message, 'result')['resultType'])
    .filter((type) => type !== undefined);
  const methods = messages
    .map(({ method }) => String(method))
    .filter((method) => /^(?:notifications\/)?tasks(?:\/|$)/.test(method));
  return [
    ...meta.filter((name) => !DEFINED.meta.includes(name)),
    ...extensions.filter((name) => !DEFINED.extensions.includes(name)),
    ...types.map(String).filter((type) => !DEFINED.resultTypes.includes(type)),
    ...methods.filter((method) => !DEFINED.aboutTasks.includes(method)),
  ];
}

/** Names that the protocol keeps for itself. */
export const NAMES = [
  defineCheck(
    {
      id: 'nothing-is-invented-under-reserved-names',
      requirements: ['G2-183', 'T40'],
      title: 'names that the protocol reserves are used only where it defines them',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const client = createClient2026(alice);
      const standalone = await session.listen();
      const progressToken = newTag('names');
      const { taskId } = await createTask(session, 'test_tool_with_progress', {
        meta: { progressToken },
      });
      const waiting = await session.open('tasks/result', { taskId });
      await replyOf(waiting, waiting.id);
      const modernId = await callAsTask(client, 'slow_compute', {
        args: { seconds: 0.3, label: newTag('names') },
      });
      const stream = await client.open('subscriptions/listen', {
        notifications: { taskIds: [modernId] },
      });
      await replyOf(stream, stream.id);
      const replies = [
        await session.request('tools/list'),
        await session.request('tasks/get', { taskId }),
        await client.request('server/discover'),
        await client.request('tools/list'),
        await client.request('tasks/get', { taskId: modernId }),
        await client.request('tools/call', { name: 'structured_job', arguments: {} }),
      ];
      replies.forEach((reply) => resultOf(reply, 'a request'));
      const streams = [standalone, waiting, stream].flatMap(({ received }) => received);
      const messages = [
        { result: session.initialized },
        ...replies.flatMap((reply) => reply.messages),
        ...streams,
      ];
      mustEqual(inventions(messages), [], 'what was invented under reserved names');
      standalone.close();
    },
  ),
];
