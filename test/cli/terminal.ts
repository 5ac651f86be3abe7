import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { ProcessIo, StopSignal } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { ADMIN_TOKEN } from '../admin/door.ts';

/** What one command wrote and how it ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Somebody sits at all three streams. */
  readonly tty?: boolean;
  readonly columns?: number;
  /** What is typed. */
  readonly typed?: string;
}

export interface Terminal {
  readonly io: ProcessIo;
  readonly written: { stdout: string; stderr: string };
  /** Sends a signal to whoever listens; answers how many did. */
  signal(signal: StopSignal): number;
}

/** A process's surroundings in memory: commands run on the real admin endpoint, without a process of their own. */
export function openTerminal(options: TerminalOptions = {}): Terminal {
  const written = { stdout: '', stderr: '' };
  const listeners = new Map<StopSignal, Set<() => void>>();
  const isTty = options.tty === true;
  const stdin = Object.assign(new PassThrough(), { isTTY: isTty });
  if (options.typed !== undefined) stdin.end(options.typed);
  let exitCode = 0;
  const io: ProcessIo = {
    stdout: (text) => void (written.stdout += text),
    stderr: (text) => void (written.stderr += text),
    env: options.env ?? {},
    cwd: options.cwd ?? tmpdir(),
    isTty,
    stderrIsTty: isTty,
    columns: options.columns ?? 120,
    stdin,
    rawStdout: new PassThrough(),
    clock: systemClock,
    exit: (code) => void (exitCode = code),
    onSignal(signal, listener) {
      const known = listeners.get(signal) ?? new Set();
      listeners.set(signal, known.add(listener));
      return () => void known.delete(listener);
    },
    get exitCode() {
      return exitCode;
    },
  };
  return {
    io,
    written,
    signal(signal) {
      const heard = Array.from(listeners.get(signal) ?? []);
      for (const listener of heard) listener();
      return heard.length;
    },
  };
}

export async function longcall(
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<Ran> {
  const { io, written } = openTerminal(options);
  const code = await main(args, io);
  return { code, ...written };
}

/** A data directory as a gateway leaves it for the commands of its user. */
export function writeDataDirectory(adminUrl: string, token = ADMIN_TOKEN): string {
  const directory = mkdtempSync(join(tmpdir(), 'longcall-cli-'));
  const data = join(directory, 'data');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(join(data, 'endpoint.json'), JSON.stringify({ adminUrl, pid: process.pid }));
  writeFileSync(join(data, 'admin-token'), `${token}\n`, { mode: 0o600 });
  return data;
}
