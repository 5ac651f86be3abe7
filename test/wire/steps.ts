import { NO_HTTP } from './channel.ts';
import type { Message } from './channel.ts';
import { eventually, must, mustEqual } from './check.ts';
import type { Client2026, Options2026, Reply, Session2025 } from './client.ts';

type Json = Readonly<Record<string, unknown>>;

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';
export const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
export const TERMINAL = ['completed', 'failed', 'cancelled'];

/** The object at a key, or an empty one. */
export function objectAt(value: unknown, key: string): Json {
  const found = (value as Json | undefined)?.[key];
  return typeof found === 'object' && found !== null ? (found as Json) : {};
}

/** The related task of a message's params or of a result. */
export const relatedTask = (value: unknown): unknown =>
  objectAt(objectAt(value, '_meta'), RELATED_TASK)['taskId'];

/** The text of a tool result's first block. */
export function textOf(result: unknown): string {
  const content = (result as Json | undefined)?.['content'];
  const [block] = Array.isArray(content) ? (content as Json[]) : [];
  return String(block?.['text'] ?? '');
}

/** The result of a reply, or the failure of the check. */
export function resultOf(reply: Reply, what: string): Json {
  must(reply.result, `${what} was refused: ${JSON.stringify(reply.error)}`);
  return reply.result;
}

/** Fails the check unless the reply is an error with this code. */
export function mustRefuse(reply: Reply, code: number, what: string): void {
  must(reply.error, `${what} was not refused but answered ${JSON.stringify(reply.result)}`);
  must(reply.error.code === code, `${what} was refused with ${reply.error.code}, not ${code}`);
}

/** Fails the check unless HTTP said this of an answer; over a pipe nothing is said. */
export function mustHaveStatus(
  { status }: { readonly status: number },
  expected: number,
  what: string,
): void {
  if (status !== NO_HTTP) mustEqual(status, expected, what);
}

/** Each message once, also where several channels are one pipe. */
export const distinct = (messages: readonly Message[]): readonly Message[] => [
  ...new Set(messages),
];

/** A call and how its request departs from the rule. */
interface Call2026 extends Options2026 {
  readonly args?: Json;
}

/** Calls a tool on 2026-07-28 and returns the id of the task that it became. */
export async function callAsTask(
  client: Client2026,
  name: string,
  { args = {}, ...options }: Call2026 = {},
): Promise<string> {
  const reply = await client.request('tools/call', { name, arguments: args }, options);
  const created = resultOf(reply, name);
  must(created['resultType'] === 'task', `${name} became no task: ${JSON.stringify(created)}`);
  return String(created['taskId']);
}

/** The task as `tasks/get` of 2026-07-28 shows it. */
export async function getTask(
  client: Client2026,
  taskId: string,
  options: Options2026 = {},
): Promise<Json> {
  return resultOf(await client.request('tasks/get', { taskId }, options), 'tasks/get');
}

/** Waits until the task has one of these statuses, and fails the check when it ends in another. */
export function reaches(
  client: Client2026,
  taskId: string,
  ...statuses: readonly string[]
): Promise<Json> {
  return reachesBy(() => getTask(client, taskId), statuses);
}

/** Creates a task in a session of 2025-11-25 and returns the `Task` of the answer. */
export async function createTask(
  session: Session2025,
  name: string,
  { args = {}, task = {}, meta }: { args?: Json; task?: unknown; meta?: Json } = {},
): Promise<Json> {
  const params = { name, arguments: args, task, ...(meta ? { _meta: meta } : {}) };
  const created = resultOf(await session.request('tools/call', params), name);
  must(typeof created['task'] === 'object', `${name} became no task: ${JSON.stringify(created)}`);
  return objectAt(created, 'task');
}

/** The task as `tasks/get` of 2025-11-25 shows it. */
export async function getTask2025(session: Session2025, taskId: unknown): Promise<Json> {
  return resultOf(await session.request('tasks/get', { taskId }), 'tasks/get');
}

/** The same as `reaches`, in a session. */
export function reaches2025(
  session: Session2025,
  taskId: unknown,
  ...statuses: readonly string[]
): Promise<Json> {
  return reachesBy(() => getTask2025(session, taskId), statuses);
}

function reachesBy(get: () => Promise<Json>, statuses: readonly string[]): Promise<Json> {
  return eventually(
    async () => {
      const task = await get();
      const status = String(task['status']);
      if (statuses.includes(status)) return task;
      must(
        !TERMINAL.includes(status),
        `the task is ${status} instead of ${statuses.join(' or ')}: ${JSON.stringify(task)}`,
      );
      return undefined;
    },
    `a task that is ${statuses.join(' or ')}`,
  );
}

/** Whether a message is a request of the server. */
export const isRequest = (message: Message): boolean =>
  typeof message['method'] === 'string' && message['id'] !== undefined;

/** Whether a message asks this. */
export const asks =
  (method: string) =>
  (message: Message): boolean =>
    isRequest(message) && message['method'] === method;

/** Whether a message is this notification. */
export const tells =
  (method: string) =>
  (message: Message): boolean =>
    message['method'] === method && message['id'] === undefined;

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Fails the check unless both times of a task are RFC 3339 (G1-19, G2-20). */
export function mustHaveTimes(task: Json): void {
  for (const name of ['createdAt', 'lastUpdatedAt']) {
    must(
      ISO.test(String(task[name])),
      `${name} is no RFC 3339 time: ${JSON.stringify(task[name])}`,
    );
  }
}
