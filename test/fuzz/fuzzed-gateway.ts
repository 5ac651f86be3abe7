import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openAdminDoor } from '../crash/admin-door.ts';
import type { AdminDoor } from '../crash/admin-door.ts';
import { cleanEnv, gatewayArguments, listenTo } from '../crash/gateway-process.ts';
import { writeTokens } from '../crash/people.ts';
import { until } from '../crash/until.ts';

const PROBE = new URL('./heap-probe.ts', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A gateway that is to be thrown things at. */
export interface FuzzedGateway {
  readonly child: ChildProcess;
  /** Where MCP is served; 0 over stdio. */
  readonly port: number;
  readonly admin: AdminDoor;
  isAlive(): boolean;
  output(): string;
  /** Bytes in use after garbage was collected. */
  heapBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts one in front of an upstream over HTTP; `stdio`: it serves its own stdin and stdout. */
export async function startFuzzedGateway(
  upstreamUrl: string,
  { stdio = false } = {},
): Promise<FuzzedGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-fuzz-'));
  const config = join(folder, 'longcall.yaml');
  const data = join(folder, 'data');
  const rules = {
    '*': { mode: 'task-optional', effect: 'consequential', syncWindow: '50ms', plainLimit: '30s' },
  };
  const upstreams = { effects: { url: upstreamUrl, tools: rules } };
  const limits = { perPrincipal: { open: 1_000 }, perTenant: { open: 1_000 } };
  writeFileSync(config, JSON.stringify({ upstreams, limits, log: { level: 'error' } }));
  // The probe is TypeScript: Node.js 22 wants to be told that types may be stripped.
  const nodeOptions = [
    '--expose-gc',
    '--experimental-strip-types',
    '--disable-warning=ExperimentalWarning',
    `--import=${PROBE}`,
  ];
  const args = [
    ...gatewayArguments({ config, data, nodeOptions }),
    ...(stdio ? ['--stdio', '--no-engine'] : []),
  ];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: cleanEnv(stdio ? {} : { LONGCALL_IDENTITY_TOKENS: writeTokens(folder) }),
    stdio: [stdio ? 'pipe' : 'ignore', 'pipe', 'pipe', 'ipc'],
  });
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  const said = stdio ? listenTo({ stdout: null, stderr: child.stderr }) : listenTo(child);
  const listening = await until(() => {
    if (!isAlive()) throw new Error(`the gateway ended before it listened: ${said()}`);
    return /^listening (\S+)/m.exec(said())?.[1];
  }, 'the gateway to listen');
  return {
    child,
    port: stdio ? 0 : Number(new URL(listening).port),
    admin: openAdminDoor(data),
    isAlive,
    output: said,
    async heapBytes() {
      const answered = once(child, 'message') as Promise<[{ heapBytes: number }]>;
      child.send('heap');
      return (await answered)[0].heapBytes;
    },
    async stop() {
      const exited = once(child, 'exit');
      if (isAlive()) {
        child.kill('SIGKILL');
        await exited;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
