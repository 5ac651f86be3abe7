import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));

/** A command that runs as a process of its own. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly written: { stdout: string; stderr: string };
  /** Resolves with the exit code when both streams are closed; `null` where a signal ended it. */
  readonly exit: Promise<number | null>;
}

/** Starts the command as a shell without a terminal would. */
export function startCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningCommand {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (written.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (written.stderr += chunk.toString()));
  return { child, written, exit: once(child, 'close').then(([code]) => code as number | null) };
}

/** Runs the command to its end. */
export async function runCommand(args: readonly string[]) {
  const { written, exit } = startCommand(args);
  const code = await exit;
  return { code, ...written };
}
