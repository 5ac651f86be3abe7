import { Option } from 'commander';
import type { Command } from 'commander';
import { parseDurationMs } from '../kernel/durations.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { AdminFlags } from './admin-endpoint.ts';
import type { OutputFlags } from './output/printer.ts';
import { TIME_FORMATS } from './output/time.ts';

/** Options of a command that prints something. */
export const addOutputOptions = (command: Command): Command =>
  command
    .option('--json', 'one JSON document on stdout')
    .option('--no-color', 'no colours (NO_COLOR does the same)')
    .option('--ascii', 'plain ASCII signs')
    .addOption(
      new Option('--time <format>', 'how to write times').choices(TIME_FORMATS).default('relative'),
    );

/** Options of a command that asks a running gateway. */
export const addAdminOptions = (command: Command): Command =>
  command
    .option('--server <url>', 'admin endpoint, like http://127.0.0.1:8788')
    .option('--data <directory>', "the gateway's data directory")
    .option('--config <file>', 'configuration file that names the data directory');

export type AskFlags = AdminFlags & OutputFlags;

/** A duration option in ms, as `15m`. Throws LONGCALL_USAGE where it is none. */
export function durationOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDurationMs(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new LongcallError('LONGCALL_USAGE', `${name} must be a duration, like 30s, 15m or 2h`);
}
