import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** How long something is waited for that commands bring about: each is a process, on a machine with other things to do. */
export const PATIENCE_MS = 60_000;

/** How a command of another package is started. */
export interface CommandLine {
  /** The JavaScript file, run by the Node.js that runs this one. */
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** What a command said, once it has ended. */
export interface Spoken {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, without a terminal. */
export async function speak(
  { file, env, cwd }: CommandLine,
  args: readonly string[],
): Promise<Spoken> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** The same for a command that is to succeed and to answer with JSON. */
export async function speakJson(command: CommandLine, args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await speak(command, args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return JSON.parse(stdout) as unknown;
}
