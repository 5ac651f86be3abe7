import { CommanderError } from 'commander';
import { ConfigInvalidError, formatProblem } from '../gateway/config/problems.ts';
import { LongcallError } from '../kernel/errors.ts';
import { messageOf } from '../kernel/logger.ts';
import { safeText } from '../kernel/text.ts';
import type { CliIo } from './io.ts';

const MESSAGE_CHARS_MAX = 2000;

/** Where the page about an error stands, from the root of the package's repository. */
const docsOf = (error: LongcallError): string => `docs/reference/errors/${error.code}.md`;

/** Whatever was thrown, as an error of the catalogue. */
export function asLongcallError(thrown: unknown): LongcallError {
  if (thrown instanceof LongcallError) return thrown;
  if (thrown instanceof CommanderError) return usageError(thrown);
  return new LongcallError('LONGCALL_INTERNAL', messageOf(thrown), {
    cause: thrown,
    hint: 'LONGCALL_DEBUG=1 shows where it happened',
  });
}

/** What commander says begins with `error:` and may go on with a guess in parentheses on a line of its own. */
function usageError({ message }: CommanderError): LongcallError {
  const said = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  return new LongcallError('LONGCALL_USAGE', said, { hint: 'add --help to see what it takes' });
}

/**
 * Tells what went wrong on stderr and answers the exit code: words on a terminal, one line of JSON with `--json` or
 * where nobody looks (ux §3.2).
 */
export function reportError(io: CliIo, thrown: unknown, asJson: boolean): number {
  const error = asLongcallError(thrown);
  io.stderr(asJson ? `${JSON.stringify(envelopeOf(error))}\n` : wordsOf(error));
  if (isSet(io.env['LONGCALL_DEBUG'])) io.stderr(`${stackOf(error)}\n`);
  return error.exitCode;
}

const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== '0';

function envelopeOf(error: LongcallError) {
  const problems = error instanceof ConfigInvalidError ? { problems: error.problems } : {};
  return {
    error: {
      ...error.data,
      code: error.code,
      message: safeText(error.message, MESSAGE_CHARS_MAX),
      hint: error.hint ?? null,
      docs: docsOf(error),
      retryable: error.retryable,
      ...problems,
    },
  };
}

function wordsOf(error: LongcallError): string {
  const problems = error instanceof ConfigInvalidError ? error.problems.map(formatProblem) : [];
  const hint = error.hint === undefined ? '' : ` (${error.hint})`;
  const line = `error ${error.code}: ${safeText(error.message, MESSAGE_CHARS_MAX)}${hint}`;
  return [...problems.map((problem) => safeText(problem, MESSAGE_CHARS_MAX)), line, ''].join('\n');
}

function stackOf(error: LongcallError): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  return cause.stack ?? cause.message;
}
