// What the front of a host that speaks stdio adds: the same requests to a window of a background engine and to one that
// does its own work. Alone: `node bench/windows.ts`; as a part of `npm run bench`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median, printLine } from './report.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const REQUESTS = 300;

interface Pipe {
  /** From the first byte out to the whole answer, in ms. */
  ask(method: string, params?: object): Promise<number>;
  /** From spawn to the answer of initialize, in ms. */
  readonly startMs: number;
  stop(): Promise<void>;
}

async function openPipe(args: readonly string[]): Promise<Pipe> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<unknown, () => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id } = JSON.parse(line) as { readonly id?: unknown };
    waiting.get(id)?.();
  });
  let nextId = 0;
  const ask = async (method: string, params: object = {}): Promise<number> => {
    const id = (nextId += 1);
    const answered = new Promise<void>((resolve) => waiting.set(id, resolve));
    const asked = performance.now();
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    await answered;
    waiting.delete(id);
    return performance.now() - asked;
  };
  const clientInfo = { name: 'bench', version: '1.0.0' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const startMs = performance.now() - begun;
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    ask,
    startMs,
    async stop() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

const METHODS = ['ping', 'tools/list'] as const;

/** Requests go to one and the other in turn, so that a noisy moment of the machine hits both alike. */
export async function printWindows(): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'longcall-bench-windows-'));
  const args = (data: string): string[] => {
    const config = ['--config', here('longcall.yaml'), '--data', join(work, data)];
    return [here('../bin/longcall.js'), 'gateway', '--stdio', '--admin', '127.0.0.1:0', ...config];
  };
  const inline = await openPipe([...args('inline'), '--no-engine']);
  const window = await openPipe(args('engine'));
  const second = await openPipe(args('engine'));
  printLine(
    `\na window over stdio: start with its engine ${window.startMs.toFixed(0)} ms, beside a running one ${second.startMs.toFixed(0)} ms, doing its own work ${inline.startMs.toFixed(0)} ms`,
  );
  for (const method of METHODS) {
    const taken = { inline: [] as number[], window: [] as number[] };
    for (let round = 0; round < REQUESTS; round += 1) {
      taken.inline.push(await inline.ask(method));
      taken.window.push(await window.ask(method));
    }
    const [own, fronted] = [median(taken.inline), median(taken.window)];
    printLine(
      `  ${method.padEnd(12)}p50 ${fronted.toFixed(2)} ms through front and engine, ${own.toFixed(2)} ms in one process: ${(fronted - own).toFixed(2)} ms added`,
    );
  }
  for (const pipe of [inline, window, second]) await pipe.stop();
  const stop = [here('../bin/longcall.js'), 'engine', 'stop', '--data', join(work, 'engine')];
  await once(spawn(process.execPath, stop, { stdio: 'ignore' }), 'exit');
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}

if (import.meta.main) await printWindows();
