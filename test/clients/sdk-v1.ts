import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ProgressCallback } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { withVersion } from './package-version.ts';
import type { Place, Reach } from './place.ts';
import { ANSWER } from './real-client.ts';
import type { ClientRow, RealClient, ToolArguments } from './real-client.ts';
import { textOf } from './result-text.ts';

function transportTo(reach: Reach): Transport {
  if (reach.kind === 'stdio')
    return new StdioClientTransport({ ...reach, args: [...reach.args], stderr: 'ignore' });
  const headers = { authorization: `Bearer ${reach.token}` };
  return new StreamableHTTPClientTransport(new URL(reach.url), { requestInit: { headers } });
}

async function openClient({ reach }: Place): Promise<RealClient> {
  const client = new Client(
    { name: 'sdk-v1', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { answer: ANSWER },
  }));
  await client.connect(transportTo(reach));
  const { tasks } = client.experimental;

  const stream = (tool: string, args: ToolArguments, onprogress?: ProgressCallback) =>
    tasks.callToolStream({ name: tool, arguments: args }, CallToolResultSchema, {
      task: {},
      ...(onprogress && { onprogress }),
    });
  const resultOf = async (messages: ReturnType<typeof stream>): Promise<CallToolResult> => {
    for await (const message of messages) {
      if (message.type === 'result') return message.result;
      if (message.type === 'error') throw message.error;
    }
    throw new Error('the stream of the call ended without a result');
  };
  const callAsTask = async (tool: string, args: ToolArguments): Promise<string> =>
    textOf(await resultOf(stream(tool, args)));

  return {
    serverName: () => Promise.resolve(client.getServerVersion()?.name ?? ''),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (tool, args) => textOf(await client.callTool({ name: tool, arguments: args })),
    callAsTask,
    async begin(tool, args) {
      const messages = stream(tool, args);
      const first = (await messages.next()).value;
      await messages.return(undefined);
      if (first?.type !== 'taskCreated') throw new Error(`no task: ${JSON.stringify(first)}`);
      return first.task.taskId;
    },
    status: async (taskId) => (await tasks.getTask(taskId)).status,
    result: async (taskId) => textOf(await tasks.getTaskResult(taskId, CallToolResultSchema)),
    cancel: async (taskId) => void (await tasks.cancelTask(taskId)),
    callAndAnswer: callAsTask,
    async progressOf(tool, args) {
      const reported: number[] = [];
      await resultOf(stream(tool, args, ({ progress }) => reported.push(progress)));
      return reported;
    },
    close: () => client.close(),
  };
}

const row = {
  client: withVersion('SDK v1', '@modelcontextprotocol/sdk'),
  era: '2025-11-25',
  open: openClient,
} as const;

/** The client that most hosts of 2025-11-25 are built on, with its experimental Tasks. */
export const SDK_V1_ROWS: readonly ClientRow[] = [
  { ...row, transport: 'HTTP' },
  { ...row, transport: 'stdio' },
];
