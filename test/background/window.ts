import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/kernel/json.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import { until } from '../crash/until.ts';
import { endEnginesIn } from './engine-of.ts';

/** A machine that starts twenty processes at once takes its time. */
const PATIENCE_MS = 120_000;

export const LAUNCHER = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));
const SERVER = fileURLToPath(new URL('./telling-server.ts', import.meta.url));

export type Message = JsonObject;

/** What stands in a message at that path. */
export const at = (message: Message, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key],
    message,
  );

/** A host's window: the process that it started and what it says to it. */
export interface HostWindow {
  readonly child: ChildProcessWithoutNullStreams;
  readonly received: readonly Message[];
  stderr(): string;
  /** The answer, whatever it is. Rejects when the server ends without one. */
  ask(method: string, params?: object): Promise<Message>;
  /** The same, and the id that it went by. */
  begin(
    method: string,
    params?: object,
  ): { readonly id: number; readonly answer: Promise<Message> };
  tell(method: string, params?: object): void;
  initialize(): Promise<Message>;
  readonly exit: Promise<number | NodeJS.Signals>;
  /** The host closes the window in order. */
  close(): Promise<number | NodeJS.Signals>;
}

export interface WindowStart {
  readonly cwd: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Opens a window, with nothing of our own environment that could configure it. */
export function openWindow({ cwd, args = [], env = {} }: WindowStart): HostWindow {
  const child = spawn(process.execPath, [LAUNCHER, 'gateway', '--stdio', ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
  });
  const received: Message[] = [];
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdin.on('error', () => undefined);
  const exit = once(child, 'close').then(
    ([code, signal]: unknown[]) => (code ?? signal) as number | NodeJS.Signals,
  );
  createInterface({ input: child.stdout }).on('line', (line) => {
    received.push(JSON.parse(line) as Message); // a line that is no message fails the test
  });
  let isOver = false;
  void exit.then(() => (isOver = true));
  let nextId = 0;
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const begin: HostWindow['begin'] = (method, params = {}) => {
    const id = (nextId += 1);
    write({ id, method, params });
    const look = (): Message | undefined => {
      const found = received.find((message) => message['id'] === id && !('method' in message));
      if (!found && isOver) throw new Error(`the server ended without an answer: ${said}`);
      return found;
    };
    return { id, answer: until(look, `the answer to ${method}`, PATIENCE_MS) };
  };
  const window: HostWindow = {
    child,
    received,
    stderr: () => said,
    begin,
    ask: (method, params) => begin(method, params).answer,
    tell: (method, params = {}) => write({ method, params }),
    async initialize() {
      const clientInfo = { name: 'host', version: '1' };
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      const answer = await window.ask('initialize', hello);
      window.tell('notifications/initialized');
      return answer;
    },
    exit,
    close() {
      child.stdin.end();
      return exit;
    },
  };
  return window;
}

/** Folders of projects that share a data directory or have one each, and what their servers did. */
export interface Desk {
  readonly folder: string;
  readonly data: string;
  /** Makes a project folder with a configuration; the answer is where. `more` is YAML on the top level. */
  project(name: string, more?: string): string;
  effects(): readonly string[];
  /** Ends every engine and removes everything. */
  remove(): Promise<void>;
}

export function createDesk(): Desk {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'longcall-windows-')));
  const data = join(folder, 'data');
  const log = join(folder, 'effects.log');
  writeFileSync(log, '');
  const { command, args } = typescriptCommand(SERVER);
  return {
    folder,
    data,
    project(name, more = '') {
      const own = join(folder, name);
      mkdirSync(own, { recursive: true });
      const config = `upstreams:
  telling:
    command: ${JSON.stringify([command, ...args])}
    env: { EFFECTS_LOG: ${JSON.stringify(log)} }
    tools:
      "*": { mode: task-optional, effect: read, syncWindow: 0ms }
      never: { effect: consequential }
data: ${JSON.stringify(data)}
listen: { mcp: "127.0.0.1:0", admin: "127.0.0.1:0" }
${more}`;
      writeFileSync(join(own, 'longcall.yaml'), config);
      return own;
    },
    effects: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    async remove() {
      await endEnginesIn(folder);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
