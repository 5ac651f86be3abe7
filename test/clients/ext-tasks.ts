import type { TaskOutcome, ToolExecution } from '@modelcontextprotocol/ext-tasks/client';
import { createTaskSession } from '../fixtures/upstreams/ext-tasks-session.ts';
import { withVersion } from './package-version.ts';
import type { Place } from './place.ts';
import type { ClientRow, Era, RealClient, ToolArguments } from './real-client.ts';
import { textOf } from './result-text.ts';
import { accepted, connectSdkV2 } from './sdk-v2-connection.ts';

let tokens = 0;

function resultText(outcome: TaskOutcome<unknown>): string {
  if (outcome.status !== 'completed') throw new Error(`it ended: ${JSON.stringify(outcome)}`);
  return textOf(outcome.result);
}

const settled = async (execution: ToolExecution<unknown>): Promise<string> =>
  resultText((await execution.settle()).outcome);

/**
 * A session of ext-tasks over a client of SDK v2. On 2026-07-28 its requests go past the client's codec; on 2025-11-25
 * the client carries them itself.
 */
async function openSession({ reach }: Place, era: Era): Promise<RealClient> {
  const { client, transport } = await connectSdkV2(reach, { name: 'ext-tasks', era });
  const session = createTaskSession(client, transport, {
    onInputRequest: () => Promise.resolve(accepted() as never),
  });
  const callTool = (tool: string, args: ToolArguments) =>
    session.callTool(tool, args, { task: { preference: 'require' } });
  const callAsTask = async (tool: string, args: ToolArguments): Promise<string> => {
    const execution = await callTool(tool, args);
    if (execution.kind !== 'task') throw new Error('the call did not become a task');
    return settled(execution);
  };
  return {
    serverName: () => Promise.resolve(client.getServerVersion()?.name ?? ''),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (tool, args) => settled(await session.callTool(tool, args)),
    callAsTask,
    callAndAnswer: callAsTask,
    async begin(tool, args) {
      const execution = await callTool(tool, args);
      if (execution.kind !== 'task') throw new Error('the call did not become a task');
      await execution.detach();
      return execution.handle.taskId;
    },
    status: async (taskId) => (await session.task(taskId as never).snapshot()).status,
    result: async (taskId) => resultText(await session.task(taskId as never).result()),
    cancel: (taskId) => session.cancelTask(taskId as never),
    async progressOf(tool, args) {
      const reported: number[] = [];
      const progressToken = `ext-tasks-${(tokens += 1)}`;
      client.setNotificationHandler('notifications/progress', ({ params }) => {
        if (params.progressToken === progressToken) reported.push(params.progress);
      });
      await settled(await session.callTool(tool, args, { metadata: { progressToken } }));
      return reported;
    },
    // The session is left as it is: closing it cancels what still runs, even what was detached a moment ago.
    close: () => client.close(),
  };
}

const on = (era: Era) => ({
  client: withVersion('ext-tasks', '@modelcontextprotocol/ext-tasks'),
  era,
  open: (place: Place) => openSession(place, era),
  notes: {
    reconnect: 'leaves by `detach()` and by closing the connection: closing the session cancels',
  },
});

/** The package of the extension, whose session hides the generation. */
export const EXT_TASKS_ROWS: readonly ClientRow[] = [
  { ...on('2025-11-25'), transport: 'HTTP' },
  { ...on('2025-11-25'), transport: 'stdio' },
  { ...on('2026-07-28'), transport: 'HTTP' },
  { ...on('2026-07-28'), transport: 'stdio' },
];
