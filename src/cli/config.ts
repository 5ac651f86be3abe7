import type { Command } from 'commander';
import { versioned } from '../admin/documents.ts';
import type { ConfigOrigin } from '../gateway/config/layers.ts';
import { loadConfig, validateConfig } from '../gateway/config/load.ts';
import type { ConfigFlags, ValidatedConfig } from '../gateway/config/load.ts';
import { formatProblem } from '../gateway/config/problems.ts';
import { ERROR_CATALOGUE } from '../kernel/errors.ts';
import { addOutputOptions } from './command-options.ts';
import type { CliIo } from './io.ts';
import { createPrinter } from './output/printer.ts';
import type { OutputFlags, Printer } from './output/printer.ts';

interface ShowFlags extends OutputFlags {
  readonly config?: string;
  readonly data?: string;
  readonly origin?: boolean;
}

/** `longcall config …`: what a gateway started here would run with. Needs none to run. */
export function registerConfig(program: Command, io: CliIo): void {
  const config = program.command('config').description('show and check the configuration');
  addShow(config, io);
  addValidate(config, io);
}

function addShow(config: Command, io: CliIo): void {
  const command = config
    .command('show')
    .description('print the configuration in force, secrets hidden')
    .option('--origin', 'with where each value comes from')
    .option('--config <file>', 'configuration file')
    .option('--data <directory>', 'data directory');
  addOutputOptions(command).action((_, own: Command) => {
    const flags = own.optsWithGlobals<ShowFlags>();
    const { config: named, data } = flags;
    const said = {
      ...(named !== undefined && { config: named }),
      ...(data !== undefined && { data }),
    };
    const loaded = loadConfig(sourcesOf(io, said));
    const printer = createPrinter(io, flags);
    const withOrigin = flags.origin === true;
    const values = loaded.origins.map(({ path, value, origin }) =>
      withOrigin ? { path, value, origin } : { path, value },
    );
    const document = versioned({ file: loaded.file ?? null, values });
    printer.answer(document, () => printValues(printer, loaded.origins, withOrigin));
  });
}

function printValues(
  printer: Printer,
  origins: readonly ConfigOrigin[],
  withOrigin: boolean,
): void {
  const columns = [{ title: 'KEY' }, { title: 'VALUE', narrowest: 16 }];
  printer.table(
    withOrigin ? [...columns, { title: 'FROM' }] : columns,
    origins.map(({ path, value, origin }) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const cells = [{ text: path }, { text }];
      return withOrigin ? [...cells, { text: origin, tone: 'quiet' }] : cells;
    }),
  );
}

function addValidate(config: Command, io: CliIo): void {
  const command = config
    .command('validate')
    .description('check a configuration file and say everything that is wrong with it')
    .argument('[file]', 'configuration file; without it the one that a gateway would read');
  addOutputOptions(command).action((file: string | undefined, _, own: Command) => {
    const checked = validateConfig(sourcesOf(io, file === undefined ? {} : { config: file }));
    const printer = createPrinter(io, own.optsWithGlobals<OutputFlags>());
    const isValid = checked.problems.length === 0;
    const document = versioned({
      file: checked.file ?? null,
      valid: isValid,
      problems: checked.problems,
    });
    printer.answer(document, () => printVerdict(printer, checked));
    if (!isValid) io.exit(ERROR_CATALOGUE.LONGCALL_CONFIG_INVALID.exitCode);
  });
}

function printVerdict(printer: Printer, { file, problems }: ValidatedConfig): void {
  for (const problem of problems) printer.line(formatProblem(problem));
  const what = file ?? 'what flags, environment and defaults say';
  if (problems.length === 0) printer.line(`${what}: valid`);
  else
    printer.note(`${what}: ${problems.length === 1 ? 'one error' : `${problems.length} errors`}`);
}

const sourcesOf = (io: CliIo, flags: ConfigFlags) => ({ cwd: io.cwd, env: io.env, flags });
