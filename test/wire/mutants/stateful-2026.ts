import type { Message } from '../channel.ts';
import type { Json, Mutation } from './mutation.ts';
import {
  asResult,
  at,
  createdId,
  isModern,
  methodOf,
  onResult,
  onSent,
  paramsOf,
} from './mutation.ts';
import { capabilitiesOf, declaring } from './official.ts';

const GET_2026 = { method: 'tasks/get', generation: '2026' } as const;
const TOLD = 'notifications/tasks';

const error = (code: number, message: string): Json => ({ error: { code, message } });

/** Holds on to what a caller declared once. */
export function rememberingCapabilities(): Mutation {
  let declared = false;
  return {
    request(seen) {
      declared ||= 'extensions' in capabilitiesOf(seen);
      return declared && isModern(seen) ? declaring(seen) : seen;
    },
  };
}

/** Takes the possession of an id for the right to use it. */
export function openingByIdAlone(): Mutation {
  const creators = new Map<unknown, string | undefined>();
  return {
    message(message, seen) {
      const id = createdId(message, seen);
      if (id !== undefined) creators.set(id, seen.headers['authorization']);
      return [message];
    },
    request(seen) {
      const params = paramsOf(seen.body);
      const [listened] = (at(params, 'notifications')['taskIds'] ?? []) as unknown[];
      const authorization = creators.get(params['taskId'] ?? listened);
      return authorization === undefined
        ? seen
        : { ...seen, headers: { ...seen.headers, authorization } };
    },
  };
}

/** Lets everybody act as the one whose session it is. */
export function openingBySessionAlone(): Mutation {
  const owners = new Map<string | undefined, string | undefined>();
  return {
    headers(headers, seen) {
      if (methodOf(seen) === 'initialize')
        owners.set(headers['mcp-session-id'], seen.headers['authorization']);
      return headers;
    },
    request(seen) {
      const authorization = owners.get(seen.headers['mcp-session-id']);
      return authorization === undefined
        ? seen
        : { ...seen, headers: { ...seen.headers, authorization } };
    },
  };
}

/** Says of a foreign task that it exists. */
export function tellingForeignFromUnknown(): Mutation {
  const known = new Set<unknown>();
  return {
    message(message, seen) {
      const id = createdId(message, seen);
      if (id !== undefined) known.add(id);
      const isForeign = message['error'] !== undefined && known.has(paramsOf(seen.body)['taskId']);
      return [isForeign ? { ...message, ...error(-32_602, 'this task is not yours') } : message];
    },
  };
}

/** Knows tasks only in the generation that created them. */
export function separatingGenerations(): Mutation {
  const legacy = new Set<unknown>();
  return {
    message(message, seen) {
      const id = createdId(message, seen);
      if (id !== undefined && !isModern(seen)) legacy.add(id);
      const isMeant =
        methodOf(seen) === 'tasks/get' &&
        isModern(seen) &&
        legacy.has(paramsOf(seen.body)['taskId']);
      return [
        isMeant
          ? { jsonrpc: '2.0', id: message['id'], ...error(-32_602, 'no such task') }
          : message,
      ];
    },
  };
}

/** Acknowledges answers and forgets them, where the task is of the other generation. */
export function forgettingAnswers(): Mutation {
  const legacy = new Set<unknown>();
  return {
    message(message, seen) {
      const id = createdId(message, seen);
      if (id !== undefined && !isModern(seen)) legacy.add(id);
      return [message];
    },
    answer(seen) {
      if (methodOf(seen) !== 'tasks/update' || !legacy.has(paramsOf(seen.body)['taskId']))
        return undefined;
      return { status: 200, body: asResult(seen.body ?? {}, { resultType: 'complete' }) };
    },
  };
}

/** Shows questions that were answered. */
export function askingForEver(): Mutation {
  const asked = new Map<unknown, Json>();
  return onResult(GET_2026, (task) => {
    const known = { ...asked.get(task['taskId']), ...at(task, 'inputRequests') };
    asked.set(task['taskId'], known);
    return task['status'] === 'input_required' ? { ...task, inputRequests: known } : task;
  });
}

/** Reads what was before the last update. */
export function readingStale(): Mutation {
  const before = new Map<unknown, Json>();
  const updated = new Set<unknown>();
  return {
    answer(seen) {
      if (methodOf(seen) === 'tasks/update') updated.add(paramsOf(seen.body)['taskId']);
      return undefined;
    },
    ...onResult(GET_2026, (task) => {
      const stale = updated.delete(task['taskId']) ? before.get(task['taskId']) : undefined;
      before.set(task['taskId'], task);
      return stale ?? task;
    }),
  };
}

/** Keeps showing a record that has expired. */
export function keepingForEver(): Mutation {
  const seenTasks = new Map<unknown, Json>();
  return {
    message(message, seen) {
      if (methodOf(seen) !== 'tasks/get') return [message];
      const { taskId } = paramsOf(seen.body);
      if (message['result']) seenTasks.set(taskId, at(message, 'result'));
      const kept = seenTasks.get(taskId);
      return [message['error'] && kept ? asResult(message, kept) : message];
    },
  };
}

/** Leaves out the first thing that is told on each stream of a subscription. */
export function tellingChangesOnly(): Mutation {
  const told = new Set<unknown>();
  return onSent(TOLD, (message, seen) => {
    const isFirst = !told.has(seen.body?.['id']);
    told.add(seen.body?.['id']);
    return isFirst ? [] : [message];
  });
}

/** Changes or drops what is told of tasks. */
export const onTold = (change: (params: Json) => Json | undefined): Mutation =>
  onSent(TOLD, (message) => {
    const params = change(paramsOf(message));
    return params ? [{ ...message, params }] : [];
  });

/** Progress that nobody asked for. */
export const PROGRESS: Message = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 'token', progress: 1 },
};
