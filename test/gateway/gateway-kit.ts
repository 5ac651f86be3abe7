import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import type { GatewayOptions, ToolPolicy, UpstreamOptions } from '../../src/gateway/options.ts';
import { createPrincipal, type Principal } from '../../src/identity/principal.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { silentLogger, type Logger } from '../../src/kernel/logger.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { ForwardRequest, RpcFailure, SurfaceEvent } from '../../src/runtime/surface.ts';
import type { ManifestStore, StoredManifest } from '../../src/stores/manifests.ts';
import { createEffectsReader, type EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import {
  launchUpstream,
  upstreamCommand,
  type HttpUpstream,
  type Upstream,
} from '../fixtures/upstreams/launch.ts';

const person = (tenant: string, subject: string): Principal =>
  createPrincipal({ issuer: 'test', tenant, subject, method: 'token', scopes: ['*'] });

export const ALICE = person('north', 'alice');
export const BOB = person('south', 'bob');

export const POLICY: ToolPolicy = {
  mode: 'task-optional',
  effect: 'consequential',
  why: 'test',
  syncWindowMs: 2_000,
  plainLimitMs: 60_000,
  runLimitMs: 60_000,
  inputAllowanceMs: 60_000,
  inputExpiryMs: 60_000,
  retentionMs: 60_000,
  pollIntervalMs: 1_000,
  concurrency: 16,
};

/** Manifests of this process. */
export function createManifests(): ManifestStore {
  const kept = new Map<string, StoredManifest>();
  return {
    put: (manifest) => Promise.resolve(void kept.set(manifest.upstream, manifest)),
    get: (upstream) => Promise.resolve(kept.get(upstream)),
  };
}

export type UpstreamSpec = Partial<Omit<UpstreamOptions, 'endpoint'>> & {
  readonly endpoint: UpstreamOptions['endpoint'];
  /** Policy of single tools, over POLICY. */
  readonly tools?: Readonly<Record<string, Partial<ToolPolicy>>>;
};

export function upstreamOptions({ tools = {}, ...spec }: UpstreamSpec): UpstreamOptions {
  return {
    name: 'up',
    connections: 'auto',
    connectionsMax: 8,
    prefix: '',
    policyOf: (name) => ({ ...POLICY, ...tools['*'], ...tools[name] }),
    ...spec,
  };
}

export interface GatewaySpec extends Partial<Omit<GatewayOptions, 'upstreams'>> {
  readonly upstreams: readonly UpstreamSpec[];
}

/** A started gateway; it is stopped when the test ends. */
export async function startGateway(spec: GatewaySpec): Promise<Gateway> {
  const gateway = createGateway({
    manifests: createManifests(),
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    clientInfo: { name: 'longcall-test', version: '0.0.0' },
    ...spec,
    upstreams: spec.upstreams.map(upstreamOptions),
  });
  onTestFinished(() => gateway.stop(2_000));
  await gateway.start();
  return gateway;
}

/** A folder that goes when the test ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** An effects log that goes when the test ends. */
export function effectsLog(): EffectsReader {
  const effects = createEffectsReader();
  onTestFinished(() => effects.remove());
  return effects;
}

/** A fixture over stdio. */
export function stdioEndpoint(
  name: Upstream,
  effects?: EffectsReader,
): UpstreamOptions['endpoint'] {
  return {
    kind: 'stdio',
    ...upstreamCommand(name),
    env: effects ? { EFFECTS_LOG: effects.file } : {},
  };
}

/** A fixture over HTTP; it is stopped when the test ends. */
export async function httpFixture(name: Upstream, effects?: EffectsReader): Promise<HttpUpstream> {
  const upstream = await launchUpstream(name, effects ? { EFFECTS_LOG: effects.file } : {});
  onTestFinished(() => upstream.stop());
  return upstream;
}

/** Waits for a condition; real processes take their time. */
export function until<T>(check: () => T): Promise<T> {
  return vi.waitFor(check, { timeout: 15_000, interval: 20 });
}

export const textOf = (result: JsonObject): string =>
  String((result['content'] as readonly { readonly text?: unknown }[])[0]?.text);

export type Forward = Partial<Omit<ForwardRequest, 'method' | 'params'>>;

/** Passes a request on in Alice's name, as a caller of 2025-11-25, unless said otherwise. */
export function forward(
  gateway: Gateway,
  [method, params]: readonly [method: string, params: JsonObject],
  rest: Forward = {},
): Promise<JsonObject> {
  return gateway.surface.forward({
    principal: ALICE,
    generation: '2025-11-25',
    method,
    params,
    meta: {},
    asks: [],
    signal: new AbortController().signal,
    ...rest,
  });
}

/** What a request was refused with. */
export async function failureOf(answer: Promise<unknown>): Promise<RpcFailure> {
  return answer.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: unknown) => error as RpcFailure,
  );
}

/** Everything that the surface says, from now on. */
export function eventsOf(gateway: Gateway): readonly SurfaceEvent[] {
  const events: SurfaceEvent[] = [];
  onTestFinished(gateway.surface.onEvent((event) => void events.push(event)));
  return events;
}

/** A log that keeps its events by name. */
export function createLog(): { readonly logger: Logger; readonly names: () => readonly string[] } {
  const names: string[] = [];
  const note = (event: string): void => void names.push(event);
  return { logger: { debug: note, info: note, warn: note, error: note }, names: () => names };
}
