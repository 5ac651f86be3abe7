import type { CallerKind } from '../../src/runtime/modes.ts';
import type { Channel, Message } from '../wire/channel.ts';
import { createClient2026, DECLARES_NO_TASKS, openSession } from '../wire/client.ts';
import type { Client2026, Session2025 } from '../wire/client.ts';
import { asks, objectAt } from '../wire/steps.ts';
import { bearerOf } from './people.ts';
import type { Person } from './people.ts';
import { until } from './until.ts';

type Json = Readonly<Record<string, unknown>>;

/** Who calls: callers of each generation, with Tasks and without. */
export const FRONT_KINDS = [
  '2025-task',
  '2025-plain',
  '2026-tasks',
  '2026-plain',
] as const satisfies readonly CallerKind[];
export type FrontKind = (typeof FRONT_KINDS)[number];

/** Callers of different generations are different people, so that their records can be told apart. */
export const personOf = (kind: FrontKind): Person => (kind.startsWith('2025') ? 'alice' : 'bob');
export const canHoldHandle = (kind: FrontKind): boolean =>
  kind === '2025-task' || kind === '2026-tasks';

/** What the response to a call's own request was. `broken`: none, the connection ended without one. */
export type Answer =
  | { readonly kind: 'handle'; readonly taskId: string }
  | { readonly kind: 'input_required'; readonly result: Json }
  | { readonly kind: 'result'; readonly result: Json }
  | { readonly kind: 'error'; readonly error: Json }
  | { readonly kind: 'broken' };

/** One `tools/call` that is under way. */
export interface FrontCall {
  readonly kind: FrontKind;
  readonly name: string;
  readonly tag: string;
  /** Never rejects. */
  readonly answer: Promise<Answer>;
  /** The question that the call asks on its own stream; plain calls of 2025-11-25 only. */
  question(): Promise<Message>;
  /** Answers what a plain call asks now, in the way of its generation. */
  reply(value: string): Promise<void>;
}

/** What the owner of a task reads of it. */
export interface View {
  readonly status: string;
  readonly result?: Json;
  readonly error?: Json;
  /** Keys of what 2026-07-28 is asked. */
  readonly keys: readonly string[];
}

/** The clients of one gateway process. */
export interface Front {
  readonly session: Session2025;
  readonly client: Client2026;
  call(kind: FrontKind, name: string, args: Json & { readonly tag: string }): FrontCall;
  /** Rejects where the id is unknown. */
  view(kind: FrontKind, taskId: string): Promise<View>;
  /** Waits for a question of the task and answers it; returns its message. */
  answer(kind: FrontKind, taskId: string, value: string): Promise<string>;
  /** Sends a cancel; false where it got no answer. */
  cancel(kind: FrontKind, taskId: string): Promise<boolean>;
}

const accepted = (value: string): Json => ({ action: 'accept', content: { answer: value } });

const TERMINAL = ['completed', 'failed', 'cancelled'];

async function answerOf(opened: Promise<Channel & { readonly id: string }>): Promise<Answer> {
  try {
    const channel = await opened;
    await channel.ended;
    const response = channel.received.find(
      (message) =>
        message['method'] === undefined && (message['id'] === channel.id || !channel.isStream),
    );
    return response ? meaningOf(response) : { kind: 'broken' };
  } catch {
    return { kind: 'broken' };
  }
}

function meaningOf(response: Message): Answer {
  if (response['error'] !== undefined) return { kind: 'error', error: objectAt(response, 'error') };
  const result = objectAt(response, 'result');
  if (result['resultType'] === 'input_required') return { kind: 'input_required', result };
  const taskId =
    result['resultType'] === 'task' ? result['taskId'] : objectAt(result, 'task')['taskId'];
  return typeof taskId === 'string' ? { kind: 'handle', taskId } : { kind: 'result', result };
}

/** Connects callers of both generations. */
export async function connectFront(url: string): Promise<Front> {
  const session = await openSession({ url, headers: bearerOf(personOf('2025-task')) });
  const client = createClient2026({ url, headers: bearerOf(personOf('2026-tasks')) });

  const open = (kind: FrontKind, params: Json): Promise<Channel & { readonly id: string }> => {
    switch (kind) {
      case '2025-task':
        return session.open('tools/call', { ...params, task: {} });
      case '2025-plain':
        return session.open('tools/call', params);
      case '2026-tasks':
        return client.open('tools/call', params);
      case '2026-plain':
        return client.open('tools/call', params, { capabilities: DECLARES_NO_TASKS });
    }
  };
  const view: Front['view'] = (kind, taskId) =>
    kind.startsWith('2025') ? viewOf2025(session, taskId) : viewOf2026(client, taskId);

  return {
    session,
    client,
    call(kind, name, args) {
      const params = { name, arguments: args };
      const opened = open(kind, params);
      const answer = answerOf(opened);
      const reply =
        kind === '2025-plain'
          ? replyOnStream(session, opened)
          : replyByRetry((more) => answerOf(open(kind, { ...params, ...more })), answer);
      return {
        kind,
        name,
        tag: args.tag,
        answer,
        question: async () => (await opened).waitFor(asks('elicitation/create'), 'a question'),
        reply,
      };
    },
    view,
    answer: (kind, taskId, value) =>
      kind.startsWith('2025')
        ? answer2025(session, taskId, value)
        : answer2026(client, taskId, value),
    async cancel(kind, taskId) {
      const sent = kind.startsWith('2025')
        ? session.request('tasks/cancel', { taskId })
        : client.request('tasks/cancel', { taskId });
      return sent.then(
        () => true,
        () => false,
      );
    },
  };
}

/** Responds to every question that came on the stream of the call, once. */
function replyOnStream(session: Session2025, opened: Promise<Channel>): FrontCall['reply'] {
  const answered = new Set<Message>();
  return async (value) => {
    const { received } = await opened;
    for (const question of received.filter(asks('elicitation/create'))) {
      if (answered.has(question)) continue;
      answered.add(question);
      await session.respond(question, accepted(value));
    }
  };
}

/** Sends the call again with its state and the answers; what that asks is answered by the next reply. */
function replyByRetry(
  retry: (more: Json) => Promise<Answer>,
  first: Promise<Answer>,
): FrontCall['reply'] {
  let latest = first;
  return async (value) => {
    const asked = await latest;
    if (asked.kind !== 'input_required') return;
    const { inputRequests, requestState } = asked.result;
    const keys = Object.keys(inputRequests ?? {});
    const inputResponses = Object.fromEntries(keys.map((key) => [key, accepted(value)]));
    latest = retry({ inputResponses, requestState });
    await latest;
  };
}

async function viewOf2025(session: Session2025, taskId: string): Promise<View> {
  const { result: task, error } = await session.request('tasks/get', { taskId });
  if (!task) throw new Error(`tasks/get of ${taskId}: ${JSON.stringify(error)}`);
  const status = String(task['status']);
  if (!TERMINAL.includes(status)) return { status, keys: [] };
  const ended = await session.request('tasks/result', { taskId });
  return {
    status,
    keys: [],
    ...(ended.result ? { result: ended.result } : {}),
    ...(ended.error ? { error: { ...ended.error } } : {}),
  };
}

async function viewOf2026(client: Client2026, taskId: string): Promise<View> {
  const { result: task, error } = await client.request('tasks/get', { taskId });
  if (!task) throw new Error(`tasks/get of ${taskId}: ${JSON.stringify(error)}`);
  return {
    status: String(task['status']),
    keys: Object.keys(objectAt(task, 'inputRequests')),
    ...(task['result'] === undefined ? {} : { result: objectAt(task, 'result') }),
    ...(task['error'] === undefined ? {} : { error: objectAt(task, 'error') }),
  };
}

async function answer2025(session: Session2025, taskId: string, value: string): Promise<string> {
  const stream = await session.open('tasks/result', { taskId });
  const question = await stream.waitFor(asks('elicitation/create'), 'a question');
  await session.respond(question, accepted(value));
  stream.close();
  return String(objectAt(question, 'params')['message']);
}

async function answer2026(client: Client2026, taskId: string, value: string): Promise<string> {
  const inputRequests = await until(async () => {
    const { result } = await client.request('tasks/get', { taskId });
    const asked = objectAt(result, 'inputRequests');
    return Object.keys(asked).length > 0 ? asked : undefined;
  }, `a question of ${taskId}`);
  const inputResponses = Object.fromEntries(
    Object.keys(inputRequests).map((key) => [key, accepted(value)]),
  );
  await client.request('tasks/update', { taskId, inputResponses });
  const [question] = Object.values(inputRequests);
  return String(objectAt(question, 'params')['message']);
}
