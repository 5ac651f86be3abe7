// Starts the real gateway as a process of its own, so that it can really be killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));
const CONFIG = fileURLToPath(new URL('./longcall.yaml', import.meta.url));

export interface GatewayProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** SIGKILL: no handler runs, nothing is flushed. */
  kill(): Promise<void>;
}

export async function startGateway(data: string, record: string): Promise<GatewayProcess> {
  const args = [
    BIN,
    'gateway',
    '--config',
    CONFIG,
    '--data',
    data,
    '--listen',
    '127.0.0.1:0',
    '--admin',
    '127.0.0.1:0',
  ];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DEMO_RECORD: record },
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /^listening (http\S+)/m.exec(output);
      if (found?.[1]) resolve(found[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`the gateway left with ${code}:\n${output}`)));
  });
  return {
    url,
    child,
    async kill() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Runs the CLI as a person would; its standard output. */
export async function cli(data: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [BIN, ...args, '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return Buffer.concat(chunks).toString();
}
