import type { Command } from 'commander';
import { versioned } from '../admin/documents.ts';
import type { GatewayApp } from '../compose.ts';
import { loadConfig, type ConfigFlags, type LoadedConfig } from '../gateway/config/load.ts';
import { gatewayDocument, renderSummary, type GatewayFacts } from './gateway-summary.ts';
import { holdOpen } from './hold-open.ts';
import type { CliIo } from './io.ts';
import { jsonText } from './output/json.ts';
import { createStyle } from './output/style.ts';
import { listenForStop } from './stop-request.ts';
import { projectFolder, runWindow } from './window.ts';

/** How long running calls have to end after the first signal; what does not is left to the next start. */
const DRAIN_MS = 10_000;

interface GatewayFlags {
  readonly config?: string;
  readonly upstream?: readonly string[];
  readonly listen?: string;
  readonly admin?: string;
  readonly data?: string;
  readonly stdio?: boolean;
  readonly project?: string;
  /** False with `--no-engine`. */
  readonly engine?: boolean;
  readonly iAcceptAnonymousNetwork?: boolean;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly ascii?: boolean;
}

/** `longcall gateway`: serves MCP servers that nobody has to change, with durable tasks, until it is told to stop. */
export function registerGateway(program: Command, io: CliIo): void {
  program
    .command('gateway')
    .description('stand in front of MCP servers and make their long calls durable')
    .option('--config <file>', 'configuration file')
    .option(
      '--upstream <command-or-url>',
      'server to stand in front of; may be given several times',
      collect,
    )
    .option('--listen <host:port>', 'where MCP is served; port 0 takes a free one')
    .option('--admin <host:port>', "where the operators' API is served")
    .option('--data <directory>', 'data directory')
    .option('--stdio', 'serve one client over stdin and stdout instead of HTTP')
    .option('--project <folder>', 'as if started in this folder; what a window is about')
    .option('--no-engine', 'over stdio: do the work in this process, which ends with its client')
    .option(
      '--i-accept-anonymous-network',
      'serve callers without a token, also beyond this machine',
    )
    .option('--json', 'print the start as one JSON document')
    .option('--no-color', 'no colours (NO_COLOR does the same)')
    .option('--ascii', 'plain ASCII signs')
    .action(async (flags: GatewayFlags) => runGateway(flags, io));
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

function configFlags(flags: GatewayFlags): ConfigFlags {
  const { config, listen, admin, data, upstream, iAcceptAnonymousNetwork } = flags;
  return {
    acceptAnonymousNetwork: iAcceptAnonymousNetwork === true,
    ...(upstream !== undefined && { upstreams: upstream }),
    ...(config !== undefined && { config }),
    ...(listen !== undefined && { listen }),
    ...(admin !== undefined && { admin }),
    ...(data !== undefined && { data }),
  };
}

const sayStopping = (io: CliIo) => (): void =>
  io.stderr('stopping: running calls have 10 s to end; a second signal ends at once\n');

async function runGateway(flags: GatewayFlags, io: CliIo): Promise<void> {
  const cwd = projectFolder(flags, io);
  const loaded = loadConfig({ cwd, env: io.env, flags: configFlags(flags) });
  const inline = flags.engine === false || loaded.config.engine.mode === 'inline';
  if (flags.stdio === true && !inline) return runWindow({ flags, io, loaded, cwd });
  const stop = listenForStop(io, sayStopping(io));
  const { createGatewayApp } = await import('../compose.ts');
  const stdio = flags.stdio === true ? { stdio: { input: io.stdin, output: io.rawStdout } } : {};
  const release = holdOpen();
  try {
    const log = { write: (text: string) => io.stderr(text), isTty: io.stderrIsTty };
    const app = await createGatewayApp(loaded, { clock: io.clock, ...stdio, log });
    announce({ app, loaded, flags, io });
    await Promise.race([stop.asked, app.closed]);
    await app.stop(DRAIN_MS);
  } finally {
    stop.release();
    release();
  }
}

interface Announcement {
  readonly app: GatewayApp;
  readonly loaded: LoadedConfig;
  readonly flags: GatewayFlags;
  readonly io: CliIo;
}

/** Where it is and what it serves. Over stdio stdout belongs to the client, so everything goes to stderr. */
function announce({ app, loaded, flags, io }: Announcement): void {
  const overStdio = flags.stdio === true;
  const facts = factsOf(app, loaded, tryCommand(flags, io));
  const say = (text: string): void => (overStdio ? io.stderr(text) : io.stdout(text));
  if (flags.json === true) say(jsonText(versioned(gatewayDocument(facts)), false));
  else say(renderSummary(facts, styleOf(flags, io, overStdio)));
  const ready = `listening ${app.mcpUrl ?? 'stdio'}\n`;
  if (flags.json === true) io.stderr(ready);
  else say(ready);
}

function factsOf(app: GatewayApp, { config, file }: LoadedConfig, command: string): GatewayFacts {
  return {
    config,
    file,
    mcpUrl: app.mcpUrl,
    adminUrl: app.adminUrl,
    localToken: app.localToken,
    upstreams: app.upstreams(),
    tools: app.surface.tools(),
    tryCommand: command,
  };
}

/** Commands find the gateway by its data directory, as this one found it. Scripts of npm run beside the launcher. */
function tryCommand({ data, config }: GatewayFlags, { env }: CliIo): string {
  const program = env['npm_lifecycle_event'] === undefined ? 'longcall' : 'npx longcall';
  const named = config === undefined ? [] : ['--config', config];
  const where = data === undefined ? named : ['--data', data];
  return [program, ...['tasks', 'list', ...where].map(shellWord)].join(' ');
}

const shellWord = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

function styleOf(flags: GatewayFlags, io: CliIo, overStdio: boolean) {
  return createStyle({
    env: io.env,
    isTty: overStdio ? io.stderrIsTty : io.isTty,
    columns: io.columns,
    noColour: flags.color === false,
    ascii: flags.ascii === true,
  });
}
