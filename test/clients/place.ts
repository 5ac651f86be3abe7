import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TaskDocument } from '../../src/admin/documents.ts';
import { openAdminDoor } from '../crash/admin-door.ts';
import { cleanEnv, startGateway } from '../crash/gateway-process.ts';
import { endEnginesIn } from '../background/engine-of.ts';
import { createEffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import type { EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import { launchUpstream } from '../fixtures/upstreams/launch.ts';

const BIN = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));

type Environment = Readonly<Record<string, string>>;

/** How a client reaches longcall. */
export type Reach =
  | { readonly kind: 'HTTP'; readonly url: string; readonly token: string }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Environment;
    };

/** What one row of the table works with: nothing of it is seen by another row. */
export interface Place {
  readonly reach: Reach;
  /** For whatever the client keeps between its processes. */
  readonly folder: string;
  readonly effects: EffectsReader;
  /** What an operator sees of this caller's tasks, newest first. */
  tasks(): Promise<readonly TaskDocument[]>;
  /** An operator ends a task. */
  stop(taskId: string): Promise<void>;
}

/** One fixture upstream and one gateway over HTTP for all rows; each row over stdio starts gateways of its own. */
export interface Site {
  /** `row` is a person of that name over HTTP, and a data directory over stdio. */
  place(row: string, kind: Reach['kind']): Place;
  remove(): Promise<void>;
}

/** Every tool as a task at once where the caller can take one, but one that never is and one that reports first. */
const TOOLS = {
  '*': { mode: 'task-optional', effect: 'read', syncWindow: '0ms', pollInterval: '50ms' },
  structured: { mode: 'sync' },
  progress: { syncWindow: '10s' },
};

const tokenOf = (row: string): string => `token-of-${row}-for-tests-only`;

/** Each row is a person in a tenant of its own, so that an operator can tell the tasks of rows apart. */
function tokensFile(rows: readonly string[]): string {
  const entries = rows.map((row) => {
    const sha256 = createHash('sha256').update(tokenOf(row)).digest('hex');
    return `- { name: ${row}, subject: ${row}, tenant: ${row}, sha256: "${sha256}" }\n`;
  });
  return entries.join('');
}

/** The tasks of a data directory, whether or not an engine or a gateway runs on it now. */
async function tasksIn(data: string, config: string): Promise<readonly TaskDocument[]> {
  try {
    return await openAdminDoor(data).tasks();
  } catch {
    const gateway = await startGateway({ config, data });
    try {
      return await openAdminDoor(data).tasks();
    } finally {
      await gateway.stop();
    }
  }
}

/** Starts what the table is played against. `rows` are names of letters, digits and hyphens. */
export async function createSite(rows: readonly string[]): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-clients-'));
  const effects = createEffectsReader();
  const upstream = await launchUpstream('effects', { EFFECTS_LOG: effects.file });
  const config = join(folder, 'longcall.yaml');
  // YAML takes JSON.
  writeFileSync(
    config,
    JSON.stringify({ upstreams: { effects: { url: upstream.url, tools: TOOLS } } }),
  );
  const tokens = join(folder, 'tokens.yaml');
  writeFileSync(tokens, tokensFile(rows), { mode: 0o600 });
  const data = join(folder, 'http-data');
  const env = { LONGCALL_IDENTITY_TOKENS: tokens };
  const gateway = await startGateway({ config, data, env });

  const overStdio = (ownData: string): Reach => {
    const files = ['--config', config, '--data', ownData, '--admin', '127.0.0.1:0'];
    const args = [BIN, 'gateway', '--stdio', ...files];
    return { kind: 'stdio', command: process.execPath, args, env: cleanEnv() as Environment };
  };
  return {
    place(row, kind) {
      const own = join(folder, row);
      mkdirSync(own);
      const isHttp = kind === 'HTTP';
      const ownData = isHttp ? data : join(own, 'data');
      return {
        reach: isHttp ? { kind, url: gateway.url, token: tokenOf(row) } : overStdio(ownData),
        folder: own,
        effects,
        // Over HTTP one gateway has the tasks of all rows.
        tasks: async () =>
          (await tasksIn(ownData, config)).filter(({ tenant }) => !isHttp || tenant === row),
        stop: (taskId) => openAdminDoor(ownData).cancel(taskId),
      };
    },
    async remove() {
      await gateway.stop();
      await endEnginesIn(folder);
      await upstream.stop();
      effects.remove();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
