import { SdkError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { TASKS_EXTENSION } from '../../src/protocol/names.ts';
import { until } from '../crash/until.ts';
import { withVersion } from './package-version.ts';
import type { Place } from './place.ts';
import type { ClientRow, RealClient, ToolArguments } from './real-client.ts';
import { textOf } from './result-text.ts';
import { accepted, connectSdkV2 } from './sdk-v2-connection.ts';
import type { Connection } from './sdk-v2-connection.ts';
import { taskBegunBy } from './task-begun-by.ts';

/** Results are read by schemas of our own: the client has none for Tasks. */
const TASK = z.looseObject({
  taskId: z.string(),
  status: z.string(),
  result: z.unknown().optional(),
});
const CREATED_2025 = z.looseObject({ task: TASK });
const ANYTHING = z.looseObject({});

/** What the client does by itself, in either generation. */
const ordinary = ({ client }: Connection) =>
  ({
    serverName: () => Promise.resolve(client.getServerVersion()?.name ?? ''),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (tool: string, args: ToolArguments) =>
      textOf(await client.callTool({ name: tool, arguments: args })),
    async progressOf(tool: string, args: ToolArguments) {
      const reported: number[] = [];
      await client.callTool(
        { name: tool, arguments: args },
        { onprogress: ({ progress }) => reported.push(progress) },
      );
      return reported;
    },
    close: () => client.close(),
  }) satisfies RealClient;

/** On 2025-11-25 it has no method for Tasks, but sends what it is told and reads it by our schemas. */
async function openOn2025({ reach }: Place): Promise<RealClient> {
  const connection = await connectSdkV2(reach, { name: 'sdk-v2', era: '2025-11-25' });
  const request = (method: string, taskId: string) => ({ method, params: { taskId } });
  const { client } = connection;
  client.setRequestHandler('elicitation/create', accepted);
  const begin = async (tool: string, args: ToolArguments): Promise<string> => {
    const params = { name: tool, arguments: args, task: {} };
    return (await client.request({ method: 'tools/call', params }, CREATED_2025)).task.taskId;
  };
  const result = async (taskId: string): Promise<string> =>
    textOf(await client.request(request('tasks/result', taskId), ANYTHING));
  const callAsTask = async (tool: string, args: ToolArguments): Promise<string> =>
    result(await begin(tool, args));
  return {
    ...ordinary(connection),
    begin,
    result,
    callAsTask,
    callAndAnswer: callAsTask,
    status: async (taskId) => (await client.request(request('tasks/get', taskId), TASK)).status,
    cancel: async (taskId) => void (await client.request(request('tasks/cancel', taskId), TASK)),
  };
}

/** Said with a request, so that the calls of a client that cannot receive tasks do not become tasks. */
const DECLARES_TASKS = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { [TASKS_EXTENSION]: {} },
  },
};

/** How the client answers a task: with an error that does not have its id. */
const isUnsupported = (error: unknown): boolean =>
  error instanceof SdkError && (error.data as { resultType?: unknown }).resultType === 'task';

/** On 2026-07-28 it cannot receive a task, but reads, answers and cancels one whose id is known from elsewhere. */
async function openOn2026(place: Place): Promise<RealClient> {
  const connection = await connectSdkV2(place.reach, { name: 'sdk-v2', era: '2026-07-28' });
  const { client } = connection;
  client.setRequestHandler('elicitation/create', accepted);
  const request = (method: string, taskId: string) => ({
    method,
    params: { taskId, _meta: DECLARES_TASKS },
  });
  const get = (taskId: string) => client.request(request('tasks/get', taskId), TASK);
  const begin = (tool: string, args: ToolArguments): Promise<string> =>
    taskBegunBy(place, async () => {
      const params = { name: tool, arguments: args, _meta: DECLARES_TASKS };
      const answer: unknown = await client.callTool(params).catch((error: unknown) => error);
      if (!isUnsupported(answer)) throw new Error(`not refused: ${JSON.stringify(answer)}`);
    });
  return {
    ...ordinary(connection),
    begin,
    callAndAnswer: ordinary(connection).call,
    status: async (taskId) => (await get(taskId)).status,
    result: (taskId) =>
      until(async () => {
        const { status, result } = await get(taskId);
        return status === 'completed' ? textOf(result) : undefined;
      }, `the result of ${taskId}`),
    cancel: async (taskId) =>
      void (await client.request(request('tasks/cancel', taskId), ANYTHING)),
  };
}

const CLIENT = withVersion('SDK v2', '@modelcontextprotocol/client');
const ID_FROM_OPERATOR = 'the id comes from the operator’s list: the client drops it';

const on2025 = { client: CLIENT, era: '2025-11-25', open: openOn2025 } as const;
const on2026 = {
  client: CLIENT,
  era: '2026-07-28',
  open: openOn2026,
  empty: {
    task: {
      reason: 'its client cannot receive a task: `UNSUPPORTED_RESULT_TYPE`, and the id is lost',
      // `begin` fails unless that is so.
      holds: async (client: RealClient) =>
        void (await client.begin?.('append', { tag: crypto.randomUUID() })),
    },
  },
  notes: {
    poll: ID_FROM_OPERATOR,
    result: ID_FROM_OPERATOR,
    cancel: ID_FROM_OPERATOR,
    reconnect: ID_FROM_OPERATOR,
  },
} as const;

/** The client of today's SDK, which has no Tasks of its own. */
export const SDK_V2_ROWS: readonly ClientRow[] = [
  { ...on2025, transport: 'HTTP' },
  { ...on2025, transport: 'stdio' },
  { ...on2026, transport: 'HTTP' },
  { ...on2026, transport: 'stdio' },
];
