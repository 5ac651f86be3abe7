/**
 * Writes docs/reference/cli.md anew from the definitions of the commands; a test fails while it is out of date.
 * Names, arguments and options are the program's own words; only the frame around them stands here.
 */
import { writeFileSync } from 'node:fs';
import type { Argument, Command, Option } from 'commander';
import { createProcessIo } from '../src/cli/io.ts';
import { createProgram } from '../src/cli/main.ts';

const TARGET = new URL('../docs/reference/cli.md', import.meta.url);

const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'success'],
  ['1', 'failure: the task failed or was cancelled, a check failed, nothing by that id'],
  [
    '2',
    'called or configured wrongly; without a terminal, also a confirmation that nobody can give',
  ],
  ['4', 'the admin token is missing or was refused'],
  ['5', 'the tool answered with an error of its own (`isError`)'],
  ['7', 'the time to wait is up, or the task has not ended yet; the work goes on'],
  ['8', 'nobody knows whether the effect happened: reconcile first'],
  ['9', 'refused by policy'],
  ['10', 'conflict: the idempotency key was used with other arguments'],
  ['11', 'the gateway or an upstream cannot be reached'],
  ['12', 'too much is running already'],
  ['130, 143', 'interrupted or terminated; what was watched goes on'],
];

const OPENING = `# Command line

Data goes to stdout, everything else to stderr. \`--json\` answers exactly one document, which carries
\`schemaVersion\`; an empty list is \`{"items":[]}\`. Errors are words on a terminal, and one line of JSON with
\`--json\` or where no terminal is: \`{"error":{"code":…,"message":…,"hint":…,"docs":…,"retryable":…}}\`. Each code has
[a page](errors/). Without a terminal nothing is ever asked. \`NO_COLOR\`, \`FORCE_COLOR\`, \`CLICOLOR_FORCE\` and
\`TERM=dumb\` are heeded.

\`tasks\`, \`ops\` and \`doctor\` find the running gateway by \`--server\`, or by \`endpoint.json\` in the data directory
that \`--data\`, \`LONGCALL_DATA\` or the configuration names. The admin token comes from \`LONGCALL_ADMIN_TOKEN\` or from
\`admin-token\` in that directory; it is never an argument. Ids may be cut short to 8 or more characters.

Two columns are shown for every task: what the protocol says about the request, and what is known of the effect.
Neither follows from the other: [the glossary](../glossary.md) has the words.
`;

/** The whole page. */
export function cliReference(): string {
  const program = createProgram(createProcessIo());
  const sections = leavesOf(program, []).map(({ command, path }) => section(command, path));
  return [OPENING, exitCodes(), ...sections].join('\n');
}

function exitCodes(): string {
  const rows = EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return `${['## Exit codes', '', '| code | meaning |', '| --- | --- |', ...rows].join('\n')}\n`;
}

interface Leaf {
  readonly command: Command;
  readonly path: readonly string[];
}

/** Commands that do something, in the order in which they are defined. */
function leavesOf(command: Command, above: readonly string[]): readonly Leaf[] {
  const path = [...above, command.name()];
  if (command.commands.length === 0) return [{ command, path }];
  const shown = command.createHelp().visibleCommands(command);
  return command.commands
    .filter((below) => shown.includes(below))
    .flatMap((below) => leavesOf(below, path));
}

function section(command: Command, path: readonly string[]): string {
  const { registeredArguments: args, options } = command;
  const usage = [path.join(' '), ...args.map(written), '[options]'].join(' ');
  const text = command.description();
  return [
    `## ${path.slice(1).join(' ')}`,
    '',
    `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    '',
    '```text',
    usage,
    '```',
    '',
    ...table('argument', args.map(argumentRow)),
    ...table('option', options.map(optionRow)),
  ].join('\n');
}

const written = (argument: Argument): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

const argumentRow = (argument: Argument): string =>
  `| \`${argument.name()}\` | ${argument.description} |`;

function optionRow({ flags, description, argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`];
  const isShown = typeof defaultValue === 'string';
  const standard = isShown ? [`default ${defaultValue}`] : [];
  const more = [...choices, ...standard].join('; ');
  return `| \`${flags}\` | ${description}${more === '' ? '' : ` (${more})`} |`;
}

function table(title: string, rows: readonly string[]): readonly string[] {
  if (rows.length === 0) return [];
  return [`| ${title} | |`, '| --- | --- |', ...rows, ''];
}

if (import.meta.main) writeFileSync(TARGET, cliReference());
