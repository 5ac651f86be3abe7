import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { upstreamCommand, type Command } from '../fixtures/upstreams/launch.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));

/** A `longcall` of its own, as a shell would start it. */
export interface LongcallProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly written: { readonly stdout: string; readonly stderr: string };
  readonly exit: Promise<number | NodeJS.Signals>;
  /** Resolves with what the pattern found on either stream; rejects with everything said when the process ends first. */
  until(pattern: RegExp): Promise<string>;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `longcall` with nothing of our own environment that could configure it. */
export function startLongcall(
  args: readonly string[],
  { cwd, env = {} }: RunOptions,
): LongcallProcess {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (written.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (written.stderr += chunk.toString()));
  const exit = once(child, 'close').then(
    ([code, signal]: unknown[]) => (code ?? signal) as number | NodeJS.Signals,
  );
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(written.stdout) ?? pattern.exec(written.stderr);
        if (found) resolve(found[1] ?? found[0]);
      };
      child.stdout.on('data', look);
      child.stderr.on('data', look);
      look();
      void exit.then((code) =>
        reject(new Error(`ended with ${code}: ${written.stdout}${written.stderr}`)),
      );
    });
  return { child, written, exit, until };
}

/** A folder of its own with a configuration file and a data directory to be. */
export interface Place {
  readonly folder: string;
  readonly data: string;
  write(name: string, text: string): string;
  remove(): void;
}

export function createPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-gateway-'));
  return {
    folder,
    data: join(folder, 'data'),
    write(name, text) {
      const file = join(folder, name);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Configuration of one upstream over stdio; `rule` is the policy of all its tools. */
export function configFor({ command, args }: Command, rule: string, rest = ''): string {
  return `upstreams:
  fixture:
    command: ${JSON.stringify([command, ...args])}
    tools: { "*": { ${rule} } }
listen: { mcp: "127.0.0.1:0", admin: "127.0.0.1:0" }
data: ./data
${rest}`;
}

/** The conformance fixture, whose slow tool works for as many seconds as it is told. */
export const FIXTURE: Command = upstreamCommand('conformance');
