import { Command, CommanderError } from 'commander';
import { PRODUCT } from '../compose/product.ts';
import { registerConfig } from './config.ts';
import { registerDoctor } from './doctor.ts';
import { registerEngine } from './engine.ts';
import { registerGateway } from './gateway.ts';
import { createProcessIo, type CliIo, type ProcessIo } from './io.ts';
import { registerOps } from './ops.ts';
import { reportError } from './report-error.ts';
import { registerTasks } from './tasks.ts';

/** What commander throws where it has already shown what was asked for. */
const SHOWN = new Set(['commander.helpDisplayed', 'commander.version']);
const USAGE_EXIT = 2;

/** The whole command line. Arguments are those after the program's name; the answer is the exit code. */
export async function main(
  argv: readonly string[],
  io: ProcessIo = createProcessIo(),
): Promise<number> {
  try {
    await createProgram(io).parseAsync(Array.from(argv), { from: 'user' });
    return io.exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError && SHOWN.has(thrown.code)) return 0;
    if (thrown instanceof CommanderError && thrown.code === 'commander.help') return USAGE_EXIT;
    return reportError(io, thrown, wantsJson(argv) || !io.stderrIsTty);
  }
}

/** Asked of the raw arguments, since an error may come before they are understood. */
function wantsJson(argv: readonly string[]): boolean {
  const options = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return options.includes('--json');
}

/** Every command with its options: what `main` parses, and what docs/reference/cli.md is made from. */
export function createProgram(io: CliIo): Command {
  const program = new Command('longcall')
    .description('Dependable long-running MCP tool calls: durable tasks in front of any server.')
    .version(PRODUCT.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show what a command takes')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout(text),
      writeErr: (text) => io.stderr(text),
      outputError: () => undefined,
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    });
  registerGateway(program, io);
  registerTasks(program, io);
  registerOps(program, io);
  registerEngine(program, io);
  registerDoctor(program, io);
  registerConfig(program, io);
  return program;
}
