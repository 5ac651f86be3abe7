import { createClient2026, openSession, type Endpoint, type Reply } from '../wire/client.ts';
import { asks, createTask, objectAt, reaches, resultOf } from '../wire/steps.ts';

type Json = Readonly<Record<string, unknown>>;

/** What hosts know of Tasks: each generation's, or nothing. */
export const HOSTS = ['2025-11-25', '2026-07-28', 'none'] as const;
export type HostName = (typeof HOSTS)[number];

/** A call that a host has under way. */
export interface HostCall {
  /** Present where the host has a handle. */
  readonly taskId?: string;
  /** What the call came to, as its caller reads it: the result, or the JSON-RPC error. */
  readonly outcome: Promise<{ readonly result?: Json; readonly error?: Json }>;
  /** Gives up. */
  cancel(): Promise<void>;
}

/** A host as it calls tools, in the terms of its own generation. */
export interface Host {
  /** `answer`: what its person says to whatever is asked. */
  begin(tool: string, args: Json, answer?: Json): Promise<HostCall>;
}

export const openHost = (name: HostName, endpoint: Endpoint): Promise<Host> | Host => {
  if (name === '2026-07-28') return host2026(endpoint);
  return name === '2025-11-25' ? host2025(endpoint) : hostOfNone(endpoint);
};

/** Calls and waits for the end. */
export async function callThrough(
  host: Host,
  tool: string,
  { args = {}, answer }: { readonly args?: Json; readonly answer?: Json } = {},
): Promise<{ readonly result?: Json; readonly error?: Json }> {
  return (await host.begin(tool, args, answer)).outcome;
}

const outcomeOf = ({ result, error }: Reply): { result?: Json; error?: Json } => ({
  ...(result && { result }),
  ...(error && { error: error }),
});

function host2026(endpoint: Endpoint): Host {
  const client = createClient2026(endpoint);
  const outcomeOfTask = async (taskId: string, answer: Json | undefined) => {
    if (answer) {
      const asked = await reaches(client, taskId, 'input_required');
      const responses = Object.keys(objectAt(asked, 'inputRequests')).map((key) => [key, answer]);
      const inputResponses: Json = Object.fromEntries(responses);
      resultOf(await client.request('tasks/update', { taskId, inputResponses }), 'tasks/update');
    }
    const ended = await reaches(client, taskId, 'completed', 'failed', 'cancelled');
    const error = ended['error'] as Json | undefined;
    return error ? { error } : { result: objectAt(ended, 'result') };
  };
  return {
    async begin(name, args, answer) {
      const reply = await client.request('tools/call', { name, arguments: args });
      if (reply.result?.['resultType'] !== 'task')
        return { outcome: Promise.resolve(outcomeOf(reply)), cancel: () => Promise.resolve() };
      const taskId = String(reply.result['taskId']);
      const outcome = outcomeOfTask(taskId, answer);
      outcome.catch(() => undefined);
      return {
        taskId,
        outcome,
        cancel: async () => void (await client.request('tasks/cancel', { taskId })),
      };
    },
  };
}

async function host2025(endpoint: Endpoint): Promise<Host> {
  const session = await openSession(endpoint);
  const readResult = async (taskId: string, answer: Json | undefined) => {
    const channel = await session.open('tasks/result', { taskId });
    if (answer) {
      const asked = await channel.waitFor(asks('elicitation/create'), 'the question');
      await session.respond(asked, answer);
    }
    const isEnd = (message: Json): boolean => message['id'] === channel.id && !message['method'];
    const { result, error } = await channel.waitFor(isEnd, 'the result');
    return result ? { result: result as Json } : { error: error as Json };
  };
  return {
    async begin(name, args, answer) {
      const { taskId } = await createTask(session, name, { args });
      const outcome = readResult(String(taskId), answer);
      outcome.catch(() => undefined);
      return {
        taskId: String(taskId),
        outcome,
        cancel: async () => void (await session.request('tasks/cancel', { taskId })),
      };
    },
  };
}

async function hostOfNone(endpoint: Endpoint): Promise<Host> {
  const session = await openSession(endpoint);
  return {
    async begin(name, args, answer) {
      const channel = await session.open('tools/call', { name, arguments: args });
      const isEnd = (message: Json): boolean => message['id'] === channel.id && !message['method'];
      const play = async () => {
        if (answer) {
          const asked = await channel.waitFor(asks('elicitation/create'), 'the question');
          await session.respond(asked, answer);
        }
        const { result, error } = await channel.waitFor(isEnd, 'the answer');
        return result ? { result: result as Json } : { error: error as Json };
      };
      const outcome = play();
      outcome.catch(() => undefined);
      const params = { requestId: channel.id };
      return {
        outcome,
        cancel: async () =>
          void (await session.post({ method: 'notifications/cancelled', params })),
      };
    },
  };
}
