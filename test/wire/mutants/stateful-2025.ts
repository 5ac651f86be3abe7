import type { Message } from '../channel.ts';
import { after } from '../check.ts';
import type { Json, Mutation, Seen } from './mutation.ts';
import {
  at,
  createdId,
  isModern,
  methodOf,
  onHeaders,
  onResult,
  onSent,
  paramsOf,
} from './mutation.ts';

/** How the server asks the user. */
export const QUESTION = 'elicitation/create';
const SESSION = 'mcp-session-id';

const error = (code: number, message: string): Json => ({ error: { code, message } });

/** Changes what `initialize` says the server can do with tasks. */
export const onTaskCapability = (change: (tasks: Json) => Json): Mutation =>
  onResult({ method: 'initialize' }, (result) => {
    const capabilities = at(result, 'capabilities');
    return {
      ...result,
      capabilities: { ...capabilities, tasks: change(at(capabilities, 'tasks')) },
    };
  });

/** Makes tasks of the plain calls of sessions that declared the extension of the other generation. */
export function honouringTheExtension(): Mutation {
  const sessions = new Set<string | undefined>();
  return {
    headers(headers, seen) {
      const declared = at(paramsOf(seen.body), 'capabilities');
      if (methodOf(seen) === 'initialize' && 'extensions' in declared)
        sessions.add(headers[SESSION]);
      return headers;
    },
    request: (seen) =>
      methodOf(seen) === 'tools/call' && sessions.has(seen.headers[SESSION])
        ? { ...seen, body: { ...seen.body, params: { ...paramsOf(seen.body), task: {} } } }
        : seen,
  };
}

/** Answers the first `tasks/result` of a task and refuses the later ones, or those beside it. */
export function resultOnce(): Mutation {
  const asked = new Set<unknown>();
  return {
    answer(seen) {
      const { taskId } = paramsOf(seen.body);
      if (methodOf(seen) !== 'tasks/result') return undefined;
      if (!asked.has(taskId)) return void asked.add(taskId);
      return {
        status: 200,
        body: { jsonrpc: '2.0', id: seen.body?.['id'], ...error(-32_602, 'already read') },
      };
    },
  };
}

/** Sends each question once in its life. */
export function askingOnce(): Mutation {
  const asked = new Set<unknown>();
  return onSent(QUESTION, (message) => {
    const text = JSON.stringify(paramsOf(message));
    const isNew = !asked.has(text);
    asked.add(text);
    return isNew ? [message] : [];
  });
}

/** Takes anybody's answer for that of the person who was asked. */
export function takingAnyAnswer(): Mutation {
  const asked = new Map<unknown, Seen['headers']>();
  return {
    message(message, seen) {
      if (message['method'] === QUESTION) asked.set(message['id'], seen.headers);
      return [message];
    },
    request: (seen) => ({
      ...seen,
      headers: (methodOf(seen) === undefined && asked.get(seen.body?.['id'])) || seen.headers,
    }),
  };
}

/** Lets a cancelled task complete when its work does. */
export function completingAfterCancel(): Mutation {
  const finished = new Set<unknown>();
  return {
    message(message, seen) {
      const result = at(message, 'result');
      if (methodOf(seen) === 'tasks/cancel')
        void after(300).then(() => finished.add(result['taskId']));
      const isMeant = methodOf(seen) === 'tasks/get' && finished.has(result['taskId']);
      return [isMeant ? { ...message, result: { ...result, status: 'completed' } } : message];
    },
  };
}

/** Takes `notifications/cancelled` for the request that created a task as a cancel of the task. */
export function cancellingByNotification(): Mutation {
  const created = new Map<unknown, string>();
  return {
    message(message, seen) {
      const id = createdId(message, seen);
      if (id !== undefined) created.set(seen.body?.['id'], id);
      return [message];
    },
    request(seen) {
      const taskId = created.get(paramsOf(seen.body)['requestId']);
      if (taskId === undefined) return seen;
      return {
        ...seen,
        body: {
          jsonrpc: '2.0',
          id: 'from-a-notification',
          method: 'tasks/cancel',
          params: { taskId },
        },
      };
    },
    status: (status, seen) => (seen.body?.['id'] === 'from-a-notification' ? 202 : status),
  };
}

/** Shows everybody's tasks in every list. */
export function listingForAll(): Mutation {
  const tasks: Json[] = [];
  return {
    message(message, seen) {
      const result = at(message, 'result');
      if (createdId(message, seen) !== undefined) tasks.push(at(result, 'task'));
      if (methodOf(seen) !== 'tasks/list' || !message['result']) return [message];
      return [
        { ...message, result: { ...result, tasks: [...(result['tasks'] as Json[]), ...tasks] } },
      ];
    },
  };
}

/** Tells the status of every task on every open stream. */
export function broadcasting(): Mutation {
  const streams: ((message: Message) => void)[] = [];
  return {
    opened: (seen, write) => void (seen.httpMethod === 'GET' && streams.push(write)),
    message(message, seen) {
      if (methodOf(seen) === 'tasks/get' && message['result']) {
        const told = {
          jsonrpc: '2.0',
          method: 'notifications/tasks/status',
          params: at(message, 'result'),
        };
        for (const write of streams) write(told);
      }
      return [message];
    },
  };
}

/** Completes a request without a session by that of the one before. */
export function rememberingTheSession(): Mutation {
  let last = '';
  return onHeaders((headers, seen) => {
    last = headers[SESSION] ?? last;
    return methodOf(seen) === 'initialize' || headers[SESSION]
      ? headers
      : { ...headers, [SESSION]: last };
  });
}

/** Cancels a plain call when its client goes away. */
export const cancellingOnDisconnect: Mutation = {
  disconnected(seen, send) {
    if (methodOf(seen) === 'tools/call' && !isModern(seen)) {
      const params = { requestId: seen.body?.['id'] };
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
    return false;
  },
};

/** Whether a stream belongs to a call. */
export const isPlainStream = (seen: Seen): boolean => methodOf(seen) === 'tools/call';
