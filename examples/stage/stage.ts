// What the stories share: words for people, expectations that must hold, and servers that can really be killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Body } from '../demo/clients.ts';

const STRIP_TYPES = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];

export const say = (words: string): void => void process.stdout.write(`${words}\n`);
export const scene = (title: string): void => say(`\n== ${title}`);

export function expect(condition: boolean, what: string): void {
  if (!condition) throw new Error(`the story expected: ${what}`);
  say(`   ✓ ${what}`);
}

export const idOf = (task: Body): string => String(task['taskId']);
export const hasEnded = (task: Body): boolean =>
  !['working', 'input_required'].includes(String(task['status']));
export const textOf = (task: Body): string => {
  const { content } = (task['result'] ?? {}) as { content?: readonly { text?: string }[] };
  return content?.[0]?.text ?? '';
};

/** A folder for one story, gone when it is over. */
export function createPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-example-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'deeds.log');
  return {
    folder,
    data: join(folder, 'data'),
    log,
    /** What was really done so far, one line for each deed. */
    deeds: (): readonly string[] => linesOf(log),
    token: () => readFileSync(join(folder, 'data', 'local-token'), 'utf8').trim(),
  };
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

export interface ServerProcess {
  readonly url: string;
  /** SIGKILL: no handler runs, nothing is flushed. */
  kill(): Promise<void>;
}

/** Starts a server of these examples as a process of its own; it prints its URL when it listens. */
export async function startServer(
  file: URL,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...STRIP_TYPES, fileURLToPath(file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return { url: await urlOf(child), kill: () => kill(child) };
}

function urlOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      const url = /http:\S+/.exec(chunk.toString())?.[0];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`it left with ${code} before it listened`)));
  });
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
