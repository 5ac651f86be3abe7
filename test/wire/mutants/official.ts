import type { Message } from '../channel.ts';
import { TASKS_EXTENSION } from '../client.ts';
import type { Json, Mutant, Mutation, Seen } from './mutation.ts';
import {
  asResult,
  at,
  createdId,
  isModern,
  methodOf,
  onError,
  onHeaders,
  onResult,
  paramsOf,
  without,
} from './mutation.ts';

/** Where a request of 2026-07-28 declares what its sender can do. */
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Adds the tasks extension to what a request declares. */
export function declaring(seen: Seen): Seen {
  const params = paramsOf(seen.body);
  const meta = at(params, '_meta');
  const capabilities = at(meta, CAPABILITIES);
  const extensions = { ...at(capabilities, 'extensions'), [TASKS_EXTENSION]: {} };
  const _meta = { ...meta, [CAPABILITIES]: { ...capabilities, extensions } };
  return { ...seen, body: { ...seen.body, params: { ...params, _meta } } };
}

export const capabilitiesOf = (seen: Seen): Json =>
  at(at(paramsOf(seen.body), '_meta'), CAPABILITIES);

/** Sends errors with this code under HTTP 200. */
const withStatus200 = (code: number): Mutation => ({
  status: (status, _seen, message) => (at(message, 'error')['code'] === code ? 200 : status),
});

/** Replaces every id that the server makes by the next number. */
function countingIds(): Mutation {
  const shown = new Map<string, string>();
  const replaceAll = <T>(value: T, pairs: Iterable<readonly [string, string]>): T => {
    let text = JSON.stringify(value);
    for (const [from, to] of pairs) text = text.replaceAll(from, to);
    return JSON.parse(text) as T;
  };
  const back = (): [string, string][] =>
    [...shown].map(([real, fake]) => [fake, real]).toReversed() as [string, string][];
  return {
    request: (seen) => (seen.body ? replaceAll(seen, back()) : seen),
    message(message, seen) {
      const id = createdId(message, seen);
      if (id !== undefined && !shown.has(id)) shown.set(id, `task-${shown.size + 1}`);
      return [replaceAll(message, shown)];
    },
  };
}

/** Lets a cancel change a task that has ended. */
function cancelAfterTheEnd(): Mutation {
  const ended = new Set<unknown>();
  const flipped = new Set<unknown>();
  return {
    answer(seen) {
      const { taskId } = paramsOf(seen.body);
      if (methodOf(seen) === 'tasks/cancel' && ended.has(taskId)) flipped.add(taskId);
      return undefined;
    },
    message(message, seen) {
      const result = at(message, 'result');
      if (methodOf(seen) !== 'tasks/get' || !isModern(seen)) return [message];
      if (result['status'] === 'completed') ended.add(result['taskId']);
      if (!flipped.has(result['taskId'])) return [message];
      return [{ ...message, result: { ...without(result, 'result'), status: 'cancelled' } }];
    },
  };
}

const acknowledge = (message: Message): Message => asResult(message, { resultType: 'complete' });

/** The ten mistakes that the official suite does not notice. */
export const OFFICIAL_MUTANTS: readonly Mutant[] = [
  {
    id: 'M1',
    title: 'task ids are counted',
    rejectedBy: 'ids-cannot-be-guessed',
    create: countingIds,
  },
  {
    id: 'M2',
    title: '-32021 comes with HTTP 200',
    rejectedBy: '2026-extension-is-needed',
    create: () => withStatus200(-32_021),
  },
  {
    id: 'M3',
    title: '-32601 comes with HTTP 200',
    rejectedBy: '2026-unknown-method',
    create: () => withStatus200(-32_601),
  },
  {
    id: 'M4',
    title: 'a failed task has no statusMessage',
    rejectedBy: '2026-failed-says-why',
    create: () =>
      onResult({ method: 'tasks/get' }, (task) =>
        task['status'] === 'failed' ? without(task, 'statusMessage') : task,
      ),
  },
  {
    id: 'M5',
    title: 'an update of an unknown task is acknowledged',
    rejectedBy: '2026-unknown-task-update',
    create: () => onError({ method: 'tasks/update' }, acknowledge),
  },
  {
    id: 'M6',
    title: 'a cancel of an unknown task is acknowledged',
    rejectedBy: '2026-unknown-task-cancel',
    create: () => onError({ method: 'tasks/cancel' }, acknowledge),
  },
  {
    id: 'M7',
    title: 'Mcp-Name is not looked at on update and cancel',
    rejectedBy: '2026-name-header-is-checked',
    create: () =>
      onHeaders((headers, seen) => {
        const { taskId } = paramsOf(seen.body);
        const isMeant = methodOf(seen) === 'tasks/update' || methodOf(seen) === 'tasks/cancel';
        return isMeant && typeof taskId === 'string' ? { ...headers, 'mcp-name': taskId } : headers;
      }),
  },
  {
    id: 'M8',
    title: 'listening for tasks needs no extension',
    rejectedBy: '2026-listen-needs-extension',
    create: () => ({
      request: (seen) => (methodOf(seen) === 'subscriptions/listen' ? declaring(seen) : seen),
    }),
  },
  {
    id: 'M9',
    title: 'the capability of 2025-11-25 counts as the extension',
    rejectedBy: '2026-legacy-capability-is-none',
    create: () => ({
      request: (seen) => ('tasks' in capabilitiesOf(seen) ? declaring(seen) : seen),
    }),
  },
  {
    id: 'M10',
    title: 'a cancel changes a task that has ended',
    rejectedBy: '2026-terminal-is-final',
    create: cancelAfterTheEnd,
  },
];
