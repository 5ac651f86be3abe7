import { expect } from 'vitest';
import { untilTrue } from '../crash/until.ts';
import { PATIENCE_MS, speak, speakJson } from './command.ts';
import type { CommandLine } from './command.ts';
import {
  cannotRunInspector,
  INSPECTOR_ERAS,
  inspectorCommand,
  inspectorFile,
  SECOND,
  SERVER,
  writeServers,
} from './inspector-files.ts';
import { withVersion } from './package-version.ts';
import type { Place } from './place.ts';
import { ANSWER } from './real-client.ts';
import type { ClientRow, EmptyCell, Era, RealClient, ToolArguments } from './real-client.ts';
import { textOf } from './result-text.ts';
import { taskBegunBy } from './task-begun-by.ts';

const commandAt = (place: Place): CommandLine =>
  inspectorCommand(inspectorFile('mcpdo/build/mcp-bin.js'), place);

/** A call on the connection that the daemon keeps. */
const callOf = (tool: string, args: ToolArguments): readonly string[] => [
  `@${SERVER}`,
  'tools/call',
  tool,
  ...Object.entries(args).map(([name, value]) => `${name}:=${JSON.stringify(value)}`),
  '--task',
];

/** A question that the command printed instead of a result. */
interface Pending {
  readonly elicitationPending: { readonly elicitationId: string };
}

/**
 * A daemon keeps connections between commands, and runs one command of a connection at a time. So what becomes of a call
 * is seen on a second connection; over stdio that is a second window to the same engine.
 */
async function openClient(place: Place, era: Era): Promise<RealClient> {
  const command = commandAt(place);
  const servers = writeServers(place);
  const say = (...args: readonly string[]) => speakJson(command, ['--format', 'json', ...args]);
  const connect = (name: string) =>
    say('connect', name, '--config', servers, '--era', INSPECTOR_ERAS[era]);
  const onTask = (method: string, taskId: string) => say(`@${SECOND}`, method, taskId);
  const begun: Promise<unknown>[] = [];
  await connect(SERVER);
  await connect(SECOND);
  return {
    async serverName() {
      const shown = await say('connections/show', SERVER);
      return (shown as { serverInfo: { name: string } }).serverInfo.name;
    },
    async toolNames() {
      const { tools } = (await say(`@${SERVER}`, 'tools/list')) as { tools: { name: string }[] };
      return tools.map(({ name }) => name);
    },
    call: async (tool, args) => textOf(await say(...callOf(tool, args).slice(0, -1))),
    callAsTask: async (tool, args) => textOf(await say(...callOf(tool, args))),
    begin: (tool, args) =>
      taskBegunBy(place, () => void begun.push(speak(command, callOf(tool, args)))),
    async status(taskId) {
      const { task } = (await onTask('tasks/get', taskId)) as { task: { status: string } };
      return task.status;
    },
    result: async (taskId) => textOf(await onTask('tasks/result', taskId)),
    cancel: async (taskId) => void (await onTask('tasks/cancel', taskId)),
    async callAndAnswer(tool, args) {
      const { elicitationPending } = (await say(...callOf(tool, args))) as Pending;
      const { elicitationId } = elicitationPending;
      return textOf(await say('elicitation/respond', elicitationId, `answer:=${ANSWER}`));
    },
    async close() {
      // A daemon that stops cancels what it still waits for.
      await Promise.all(begun);
      await say('daemon', 'stop');
      const isGone = async (): Promise<boolean> => {
        const status = (await say('daemon', 'status')) as { running?: boolean };
        return status.running === false;
      };
      await untilTrue(isGone, 'the end of the daemon', PATIENCE_MS);
    },
  };
}

const ID_FROM_OPERATOR = 'the id comes from the operator’s list: it shows none while it waits';
const ON_SECOND = `on a second connection; ${ID_FROM_OPERATOR}`;

const ONLY_RESULTS: EmptyCell = {
  reason: 'it prints the result alone',
  async holds(_client, place) {
    const args = callOf('progress', { tag: crypto.randomUUID(), steps: 2 });
    const { stdout, stderr } = await speak(commandAt(place), args);
    expect(stdout).toContain('2 steps');
    expect(stdout + stderr).not.toContain('step 1');
  },
};

const on = (era: Era) =>
  ({
    client: withVersion('Inspector mcpdo', '@modelcontextprotocol/inspector'),
    era,
    open: (place: Place) => openClient(place, era),
    cannotRun: cannotRunInspector,
  }) as const;

const overEither = {
  empty: { progress: ONLY_RESULTS },
  notes: {
    poll: ON_SECOND,
    result: ON_SECOND,
    cancel: ON_SECOND,
    reconnect: ID_FROM_OPERATOR,
  },
} as const;
const overHttp = { ...overEither, transport: 'HTTP' } as const;
const overStdio = { ...overEither, transport: 'stdio' } as const;

/** `mcpdo`, the Inspector's command line that keeps connections. */
export const MCPDO_ROWS: readonly ClientRow[] = [
  { ...on('2025-11-25'), ...overHttp },
  { ...on('2025-11-25'), ...overStdio },
  { ...on('2026-07-28'), ...overHttp },
  { ...on('2026-07-28'), ...overStdio },
];
