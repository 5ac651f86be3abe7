import { expect } from 'vitest';
import { speak } from './command.ts';
import type { Spoken } from './command.ts';
import {
  cannotRunInspector,
  INSPECTOR_ERAS,
  inspectorCommand,
  inspectorFile,
  SERVER,
  writeServers,
} from './inspector-files.ts';
import { asksNobody, callsPlainly } from './lacks.ts';
import { withVersion } from './package-version.ts';
import type { Place } from './place.ts';
import type {
  ClientRow,
  EmptyCell,
  EmptyCells,
  Era,
  RealClient,
  ToolArguments,
} from './real-client.ts';
import { textOf } from './result-text.ts';

type Say = (method: string, ...more: readonly string[]) => Promise<Spoken>;

/** Each command is a process and a connection of its own. */
function speaker(place: Place, era: Era): Say {
  const command = inspectorCommand(inspectorFile('launcher/build/index.js'), place);
  const servers = ['--config', writeServers(place), '--server', SERVER];
  const flags = ['--cli', ...servers, '--protocol-era', INSPECTOR_ERAS[era], '--format', 'json'];
  return (method, ...more) => speak(command, [...flags, '--method', method, ...more]);
}

const callFlags = (tool: string, args: ToolArguments): readonly string[] => [
  '--tool-name',
  tool,
  '--tool-args-json',
  JSON.stringify(args),
];

/** The result in what a command printed. */
function resultIn({ code, stdout, stderr }: Spoken): unknown {
  if (code !== 0) throw new Error(`it ended with ${code}:\n${stdout}${stderr}`);
  return (JSON.parse(stdout) as { result: unknown }).result;
}

function openClient(place: Place, era: Era): Promise<RealClient> {
  const say = speaker(place, era);
  const call = async (tool: string, args: ToolArguments): Promise<string> =>
    textOf(resultIn(await say('tools/call', ...callFlags(tool, args))));
  return Promise.resolve({
    async serverName() {
      const opened = resultIn(await say('initialize')) as { serverInfo: { name: string } };
      return opened.serverInfo.name;
    },
    async toolNames() {
      const { tools } = resultIn(await say('tools/list')) as { tools: { name: string }[] };
      return tools.map(({ name }) => name);
    },
    call,
    callAsTask: call,
    close: () => Promise.resolve(),
  });
}

const NO_TASK_METHODS: EmptyCell = {
  reason: 'it has no method of Tasks, and never tells the id of a task',
  async holds(_client, place) {
    const { code, stderr } = await speaker(place, '2025-11-25')('tasks/get', '--task-id', 'any');
    expect(stderr).toContain('Unsupported method: tasks/get');
    expect(code).toBe(1);
  },
};

const empty = (era: Era): EmptyCells => ({
  ...(era === '2025-11-25' && {
    task: callsPlainly('it calls plainly, and has no flag for Tasks'),
  }),
  poll: NO_TASK_METHODS,
  result: NO_TASK_METHODS,
  input: asksNobody('it has nobody to ask, and declares no elicitation'),
  cancel: NO_TASK_METHODS,
  progress: {
    reason: 'it prints the result alone',
    async holds(_client, place) {
      const args = { tag: crypto.randomUUID(), steps: 2 };
      const { stdout, stderr } = await speaker(place, era)(
        'tools/call',
        ...callFlags('progress', args),
      );
      expect(stdout).toContain('2 steps');
      expect(stdout + stderr).not.toContain('step 1');
    },
  },
  reconnect: NO_TASK_METHODS,
});

const on = (era: Era) => ({
  client: withVersion('Inspector CLI', '@modelcontextprotocol/inspector'),
  era,
  open: (place: Place) => openClient(place, era),
  empty: empty(era),
  cannotRun: cannotRunInspector,
});

/** `mcp-inspector --cli`. */
export const INSPECTOR_CLI_ROWS: readonly ClientRow[] = [
  { ...on('2025-11-25'), transport: 'HTTP' },
  { ...on('2025-11-25'), transport: 'stdio' },
  { ...on('2026-07-28'), transport: 'HTTP' },
  { ...on('2026-07-28'), transport: 'stdio' },
];
