import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CrashPoint } from '../../src/kernel/crash-point.ts';

const BIN = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A gateway as its users run it: a process of its own. */
export interface GatewayProcess {
  /** Where MCP is served. */
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Everything it has said so far, on both streams. */
  output(): string;
  /** SIGKILL: no handler runs, nothing is flushed. */
  kill(): Promise<void>;
  /** Asks it to end in order, and waits until it has. */
  stop(): Promise<Exit>;
}

/** Where a gateway dies: at a named point, on the `nth` pass (from 1). */
export interface CrashAt {
  readonly point: CrashPoint;
  readonly nth: number;
}

export interface GatewayOptions {
  readonly config: string;
  readonly data: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly crashAt?: CrashAt;
  /** Options of Node.js itself. */
  readonly nodeOptions?: readonly string[];
}

/** Variables of whoever runs the tests must not configure what is tested. */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:LONGCALL_|VITEST|NODE_OPTIONS)/.test(name),
  );
  return { ...Object.fromEntries(own), ...more };
}

/** The command line of a gateway on free ports. */
export function gatewayArguments({ config, data, nodeOptions = [] }: GatewayOptions): string[] {
  const addresses = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];
  return [...nodeOptions, BIN, 'gateway', '--config', config, '--data', data, ...addresses];
}

/** Starts a gateway without waiting for it, for tests of starts that fail. */
export function spawnGateway(options: GatewayOptions): ChildProcess {
  const { crashAt } = options;
  const crash: Record<string, string> =
    crashAt === undefined ? {} : { LONGCALL_CRASH_AT: `${crashAt.point}#${crashAt.nth}` };
  return spawn(process.execPath, gatewayArguments(options), {
    cwd: ROOT,
    env: cleanEnv({ ...crash, ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What a process says, as text. */
export function listenTo(child: Pick<ChildProcess, 'stdout' | 'stderr'>): () => string {
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return () => said;
}

/** Starts a gateway; resolves when it listens, rejects with what it said when it ends before. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const child = spawnGateway(options);
  const output = listenTo(child);
  const exited = once(child, 'exit').then(
    ([code, signal]: unknown[]) => ({ code, signal }) as Exit,
  );
  const url = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const found = /^listening (http\S+)/m.exec(output())?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('error', reject);
    void exited.then(({ code, signal }) =>
      reject(
        new Error(`the gateway ended with ${code ?? signal} before it listened:\n${output()}`),
      ),
    );
  });
  const end = async (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal);
    return exited;
  };
  return {
    url,
    pid: child.pid ?? 0,
    exited,
    output,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}
