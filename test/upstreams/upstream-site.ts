import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAdminDoor } from '../crash/admin-door.ts';
import type { AdminDoor } from '../crash/admin-door.ts';
import { startGateway } from '../crash/gateway-process.ts';
import type { GatewayProcess } from '../crash/gateway-process.ts';
import { bearerOf, writeTokens } from '../crash/people.ts';
import { createEffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import type { EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import { createClient2026, openSession, TASKS_EXTENSION } from '../wire/client.ts';
import type { Client2026, Reply, Session2025 } from '../wire/client.ts';
import type { Standing, UpstreamRow } from './rows.ts';

type Json = Readonly<Record<string, unknown>>;

/** Forms, and no roots: some servers ask every new connection for its roots, in the middle of whichever call is there. */
const ASKABLE = { elicitation: {} };
const DECLARED_2026 = { ...ASKABLE, extensions: { [TASKS_EXTENSION]: {} } };

/** A caller of 2026-07-28. */
type Request2026 = (
  method: string,
  params: Json,
  headers?: Record<string, string>,
) => Promise<Reply>;

/** A gateway process in front of real servers, with a caller of each generation who is the same person. */
export interface UpstreamSite {
  readonly effects: EffectsReader;
  readonly data: string;
  gateway(): GatewayProcess;
  session(): Session2025;
  readonly modern: Request2026;
  operator(): AdminDoor;
  /** Starts the gateway anew on the same data, and the callers with it. */
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** Read-like, so that a restart may do it again; a handle at once, but for what is to be answered at once. */
const policyOf = ({ plain }: UpstreamRow): object => ({
  '*': { mode: 'task-optional', effect: 'read', syncWindow: '0ms', pollInterval: '50ms' },
  [plain.tool]: { mode: 'sync' },
});

/** Starts the servers and a gateway in front of them. */
export async function createUpstreamSite(rows: readonly UpstreamRow[]): Promise<UpstreamSite> {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-upstreams-'));
  const [data, config] = [join(folder, 'data'), join(folder, 'longcall.yaml')];
  const effects = createEffectsReader();
  const ground = { folder, effectsFile: effects.file };
  const started = await Promise.all(
    rows.map(async (row) => [row, await row.start(ground)] as const),
  );
  writeFileSync(config, configOf(started));
  const env = { LONGCALL_IDENTITY_TOKENS: writeTokens(folder) };
  const headers = bearerOf('alice');

  const open = async () => {
    const gateway = await startGateway({ config, data, env });
    const { url } = gateway;
    const session = await openSession({ url, headers }, { capabilities: ASKABLE });
    const client: Client2026 = createClient2026({ url, headers });
    return { gateway, session, client };
  };
  let now = await open();
  return {
    effects,
    data,
    gateway: () => now.gateway,
    session: () => now.session,
    modern: (method, params, more = {}) =>
      now.client.request(method, params, { capabilities: DECLARED_2026, headers: more }),
    operator: () => openAdminDoor(data),
    async restart() {
      await now.gateway.kill();
      now = await open();
    },
    async remove() {
      await now.gateway.stop();
      await Promise.all(started.map(([, { stop }]) => stop()));
      effects.remove();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** YAML takes JSON. */
function configOf(started: readonly (readonly [UpstreamRow, Standing])[]): string {
  const upstreams = started.map(([row, standing]) => [
    row.name,
    { ...standing.config, prefix: `${row.name}_`, tools: policyOf(row) },
  ]);
  return JSON.stringify({ upstreams: Object.fromEntries(upstreams) });
}
