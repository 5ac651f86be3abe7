import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cleanEnv } from '../crash/gateway-process.ts';
import { until } from '../crash/until.ts';
import { PATIENCE_MS, speak, speakJson } from './command.ts';
import type { CommandLine } from './command.ts';
import { asksNobody } from './lacks.ts';
import { withVersion } from './package-version.ts';
import type { Place, Reach } from './place.ts';
import type { ClientRow, RealClient, ToolArguments } from './real-client.ts';
import { textOf } from './result-text.ts';

const FILE = createRequire(import.meta.url).resolve('@apify/mcpc/bin/mcpc');
/** The command's name for its connection, which a process of its own keeps open between commands. */
const SESSION = '@longcall';

/** Where it connects to: a URL, or an entry of a configuration file that names a command. */
function target(reach: Reach, folder: string): readonly string[] {
  if (reach.kind === 'HTTP')
    return [reach.url, SESSION, '--header', `Authorization: Bearer ${reach.token}`];
  const { command, args, env } = reach;
  const file = join(folder, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { longcall: { command, args, env } } }));
  return [`${file}:longcall`, SESSION];
}

interface Opened {
  readonly serverInfo: { readonly name: string };
}

const argumentsOf = (args: ToolArguments): readonly string[] =>
  Object.entries(args).map(([name, value]) => `${name}:=${JSON.stringify(value)}`);

/** It gives the process that it starts five seconds, which a busy machine may not have for it: then it is asked again. */
function connect(command: CommandLine, where: readonly string[]): Promise<Opened> {
  const attempt = async (): Promise<Opened | undefined> => {
    const { code, stdout, stderr } = await speak(command, ['connect', ...where, '--json']);
    if (code === 0) return JSON.parse(stdout) as Opened;
    if (/Bridge failed to start/.test(stdout + stderr)) return undefined;
    throw new Error(`connect ended with ${code}:\n${stdout}${stderr}`);
  };
  return until(attempt, 'a connection', PATIENCE_MS);
}

async function openClient({ reach, folder }: Place): Promise<RealClient> {
  const home = join(folder, 'mcpc');
  const command: CommandLine = {
    file: FILE,
    cwd: folder,
    env: cleanEnv({ HOME: folder, MCPC_HOME_DIR: home, MCPC_VERBOSE: '1' }),
  };
  const say = (...args: readonly string[]) => speakJson(command, [SESSION, ...args, '--json']);
  const callTool = (tool: string, args: ToolArguments, ...flags: readonly string[]) =>
    say('tools-call', tool, ...argumentsOf(args), ...flags);
  const log = (): string => readFileSync(join(home, 'logs', `bridge-${SESSION}.log`), 'utf8');

  const { serverInfo } = await connect(command, target(reach, folder));
  return {
    serverName: () => Promise.resolve(serverInfo.name),
    toolNames: async () =>
      ((await say('tools-list')) as { name: string }[]).map(({ name }) => name),
    call: async (tool, args) => textOf(await callTool(tool, args)),
    callAsTask: async (tool, args) => textOf(await callTool(tool, args, '--task')),
    begin: async (tool, args) =>
      ((await callTool(tool, args, '--detach')) as { taskId: string }).taskId,
    status: async (taskId) => ((await say('tasks-get', taskId)) as { status: string }).status,
    result: async (taskId) => textOf(await say('tasks-result', taskId)),
    cancel: async (taskId) => void (await say('tasks-cancel', taskId)),
    async progressOf(tool, args) {
      const before = log().length;
      await callTool(tool, args, '--task');
      const reported = log()
        .slice(before)
        .matchAll(/ progress: (\d+)\//g);
      return [...reported].map(([, done]) => Number(done));
    },
    close: async () => void (await speak(command, ['close', SESSION])),
  };
}

const row = {
  client: withVersion('mcpc', '@apify/mcpc'),
  era: '2025-11-25',
  open: openClient,
  empty: { input: asksNobody('it does not declare elicitation') },
  notes: { progress: 'in its log; without a terminal it shows none' },
} as const;

/** The command line of Apify, with `--task` and `--detach`. */
export const MCPC_ROWS: readonly ClientRow[] = [
  { ...row, transport: 'HTTP' },
  { ...row, transport: 'stdio' },
];
