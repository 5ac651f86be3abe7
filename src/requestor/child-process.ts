import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { sleep, type Clock } from '../kernel/clock.ts';

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the small environment that children are given (HOME, PATH, …): our own secrets stay ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** That small environment, where it is not this process's own. */
  readonly baseEnv?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The small environment that children of this process are given: HOME, PATH and the like. */
export const childEnvironment = (): Readonly<Record<string, string>> => getDefaultEnvironment();

/**
 * Starts a process in a group of its own, so that an interrupt at our terminal does not reach it before we have
 * ended it in order, and so that what it starts (npx runs the server as a grandchild) ends with it.
 */
export function spawnGroup({
  command,
  args,
  env,
  baseEnv = childEnvironment(),
  cwd,
}: ChildCommand): ChildProcessWithoutNullStreams {
  return spawn(command, args, {
    env: { ...baseEnv, ...env },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}

/** Signals the whole group of a child; a group that is gone is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // Nobody left to hear it.
  }
}

const hasExited = (child: ChildProcessWithoutNullStreams): boolean =>
  child.exitCode !== null || child.signalCode !== null;

/** Ends a child in three steps, each with a part of the grace: end of input, SIGTERM, SIGKILL. */
export async function endChild(
  child: ChildProcessWithoutNullStreams,
  { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
): Promise<void> {
  const { pid } = child;
  if (pid === undefined || hasExited(child)) return;
  const exited = once(child, 'exit');
  const within = (ms: number): Promise<unknown> => Promise.race([exited, sleep(clock, ms)]);
  child.stdin.end();
  await within(graceMs / 2);
  if (!hasExited(child)) {
    signalGroup(pid, 'SIGTERM');
    await within(graceMs / 2);
  }
  if (!hasExited(child)) signalGroup(pid, 'SIGKILL');
  await exited;
}
