import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sharing } from '../../src/gateway/options.ts';
import { createEffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import type { EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import { openAdminDoor } from './admin-door.ts';
import type { AdminDoor } from './admin-door.ts';
import { startGateway } from './gateway-process.ts';
import type { CrashAt, GatewayProcess } from './gateway-process.ts';
import { writeTokens } from './people.ts';

/** How an upstream is reached, as the configuration says it. */
export type UpstreamPlace = (
  | { readonly url: string }
  | { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> }
) & { readonly connections?: Sharing };

/** The same tools twice: `read_…` are served as reads, `do_…` as consequential. */
export const PREFIXES = { read: 'read_', consequential: 'do_' } as const;
export type ServedEffect = keyof typeof PREFIXES;

export interface SiteOptions {
  readonly effects: EffectsReader;
  readonly upstream: UpstreamPlace;
}

/** A data directory with its configuration, on which gateways live and die. */
export interface Site {
  readonly data: string;
  readonly config: string;
  readonly effects: EffectsReader;
  /** The gateway that runs now. */
  gateway(): GatewayProcess;
  start(crashAt?: CrashAt): Promise<GatewayProcess>;
  /** What an operator sees of the running gateway. */
  admin(): AdminDoor;
  /** Kills what still runs, and removes everything. */
  remove(): Promise<void>;
}

const rules = (effect: ServedEffect): object => ({
  // A caller that can take a handle gets it at once, so that every row has one.
  '*': { mode: 'task-optional', effect, syncWindow: '0ms', pollInterval: '50ms' },
});

/** YAML takes JSON. */
function configOf(upstream: UpstreamPlace): string {
  const upstreams = Object.entries(PREFIXES).map(([effect, prefix]) => [
    `${effect}s`,
    { ...upstream, prefix, tools: rules(effect as ServedEffect) },
  ]);
  const limits = { perPrincipal: { open: 200 }, perTool: { running: 100 } };
  // The rows are about callers who wait for a plain answer, too.
  const config = { upstreams: Object.fromEntries(upstreams), limits, jobTools: 'off' };
  return JSON.stringify(config, undefined, 2);
}

/** Makes a site in a folder of its own. */
export function createSite({ effects, upstream }: SiteOptions): Site {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-crash-'));
  const data = join(folder, 'data');
  const config = join(folder, 'longcall.yaml');
  const env = { LONGCALL_IDENTITY_TOKENS: writeTokens(folder) };
  writeFileSync(config, configOf(upstream));
  let running: GatewayProcess | undefined;
  return {
    data,
    config,
    effects,
    gateway() {
      if (!running) throw new Error('no gateway was started');
      return running;
    },
    async start(crashAt) {
      running = await startGateway({ config, data, env, ...(crashAt ? { crashAt } : {}) });
      return running;
    },
    admin: () => openAdminDoor(data),
    async remove() {
      await running?.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An effects log for the sites of one file. */
export const createEffects = createEffectsReader;
