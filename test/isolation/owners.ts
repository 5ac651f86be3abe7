import type { FrontKind } from '../crash/front.ts';
import { until } from '../crash/until.ts';
import type { Channel, Message } from '../wire/channel.ts';
import { createClient2026, DECLARES_NO_TASKS, openSession, replyOf } from '../wire/client.ts';
import type { Client2026, Endpoint, Session2025 } from '../wire/client.ts';
import { asks, callAsTask, createTask, objectAt, resultOf, textOf } from '../wire/steps.ts';

type Json = Readonly<Record<string, unknown>>;

/** A question of one call, as it reached the owner of that call. */
export interface Question {
  readonly text: string;
  /** What names it on the wire: a request id, or the key of an input request. */
  readonly name: unknown;
  /** The task that asks, where its owner knows it. */
  readonly taskId?: string;
  /** What a caller without Tasks has to send back. */
  readonly requestState?: unknown;
}

/** A call that asks its owner one question. */
export interface AskingCall {
  readonly question: Promise<Question>;
  answer(value: string): Promise<void>;
  /** The text of the tool's result. */
  result(): Promise<string>;
}

/** Somebody who calls and is asked, with a connection of their own. */
export interface Owner {
  readonly session?: Session2025;
  readonly client?: Client2026;
  call(name: string, tag: string): AskingCall;
  /** Every question that came on any of their streams. */
  heard(): readonly string[];
}

const accepted = (value: string): Json => ({ action: 'accept', content: { answer: value } });
const messageOf = (request: Message): string => String(objectAt(request, 'params')['message']);
const callOf = (name: string, tag: string) => ({ name, arguments: { tag } });

/** Connects an owner of the given kind. */
export const connectOwner = (kind: FrontKind, endpoint: Endpoint): Promise<Owner> =>
  kind.startsWith('2025') ? owner2025(kind, endpoint) : Promise.resolve(owner2026(kind, endpoint));

async function owner2025(kind: FrontKind, endpoint: Endpoint): Promise<Owner> {
  const session = await openSession(endpoint);
  const standalone = await session.listen();
  const channels: Channel[] = [standalone];
  /** A task asks on the stream of its `tasks/result`, or on the standalone one while that was not open yet (T3). */
  const askedOn = (channel: Channel): Promise<Message> =>
    Promise.any(
      [standalone, channel].map((one) => one.waitFor(asks('elicitation/create'), 'a question')),
    );
  const open = async (name: string, tag: string) => {
    if (kind === '2025-plain') return session.open('tools/call', callOf(name, tag));
    const { taskId } = await createTask(session, name, { args: { tag } });
    return { ...(await session.open('tasks/result', { taskId })), taskId: String(taskId) };
  };
  return {
    session,
    heard: () =>
      channels.flatMap(({ received }) =>
        received.filter(asks('elicitation/create')).map(messageOf),
      ),
    call(name, tag) {
      const opened = open(name, tag).then((channel) => {
        channels.push(channel);
        return channel;
      });
      const asked = opened.then(askedOn);
      const question = Promise.all([asked, opened]).then(([request, channel]): Question => {
        const taskId = (channel as { taskId?: string }).taskId;
        return {
          text: messageOf(request),
          name: request['id'],
          ...(taskId === undefined ? {} : { taskId }),
        };
      });
      return {
        question,
        answer: async (value) => void (await session.respond(await asked, accepted(value))),
        async result() {
          const channel = await opened;
          return textOf(resultOf(await replyOf(channel, channel.id), name));
        },
      };
    },
  };
}

function owner2026(kind: FrontKind, endpoint: Endpoint): Owner {
  const client = createClient2026(endpoint);
  const heard: string[] = [];
  const call = kind === '2026-tasks' ? callWithTask : callWithoutTask;
  return {
    client,
    heard: () => heard,
    call: (name, tag) => {
      const made = call(client, name, tag);
      void made.question.then(({ text }) => heard.push(text)).catch(() => undefined);
      return made;
    },
  };
}

const questionIn = (result: unknown): Pick<Question, 'text' | 'name'> | undefined => {
  const [first] = Object.entries(objectAt(result, 'inputRequests'));
  return first && { name: first[0], text: String(objectAt(first[1], 'params')['message']) };
};

function callWithTask(client: Client2026, name: string, tag: string): AskingCall {
  const created = callAsTask(client, name, { args: { tag } });
  const look = async (): Promise<Json> =>
    resultOf(await client.request('tasks/get', { taskId: await created }), 'tasks/get');
  const question = created.then((taskId) =>
    until(async (): Promise<Question | undefined> => {
      const asked = questionIn(await look());
      return asked && { ...asked, taskId };
    }, `a question of ${tag}`),
  );
  return {
    question,
    async answer(value) {
      const { name: key, taskId } = await question;
      await client.request('tasks/update', {
        taskId,
        inputResponses: { [String(key)]: accepted(value) },
      });
    },
    result: () =>
      until(async () => {
        const task = await look();
        return task['status'] === 'completed' ? textOf(task['result']) : undefined;
      }, `the result of ${tag}`),
  };
}

function callWithoutTask(client: Client2026, name: string, tag: string): AskingCall {
  const options = { capabilities: DECLARES_NO_TASKS };
  const params = callOf(name, tag);
  const first = client
    .request('tools/call', params, options)
    .then((reply) => resultOf(reply, name));
  const question = first.then((result): Question => {
    const asked = questionIn(result);
    if (!asked) throw new Error(`${tag} was not asked: ${JSON.stringify(result)}`);
    return { ...asked, requestState: result['requestState'] };
  });
  let retried: Promise<string> | undefined;
  return {
    question,
    async answer(value) {
      const { name: key, requestState } = await question;
      const inputResponses = { [String(key)]: accepted(value) };
      const retry = client.request(
        'tools/call',
        { ...params, inputResponses, requestState },
        options,
      );
      retried = retry.then((reply) => textOf(resultOf(reply, name)));
      await retried;
    },
    result: () => retried ?? Promise.reject(new Error(`${tag} was not answered`)),
  };
}
