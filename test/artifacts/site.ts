import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGateway, type CrashAt, type GatewayProcess } from '../crash/gateway-process.ts';
import { bearerOf, writeTokens, type Person } from '../crash/people.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import {
  createClient2026,
  openSession,
  type Client2026,
  type Session2025,
} from '../wire/client.ts';

const SERVER = fileURLToPath(new URL('./servers/large.ts', import.meta.url));

export interface SiteOptions {
  /** Rules by tool, beside the usual ones. */
  readonly tools?: Readonly<Record<string, object>>;
  readonly limits?: object;
  readonly redact?: object;
}

/** A gateway over the server of large answers, with two people who may call it. */
export interface ArtifactSite {
  readonly folder: string;
  gateway(): GatewayProcess;
  start(crashAt?: CrashAt): Promise<GatewayProcess>;
  session(person: Person): Promise<Session2025>;
  client(person: Person): Client2026;
  /** A request to the path, beside `/mcp`. */
  fetch(person: Person | undefined, path: string, init?: RequestInit): Promise<Response>;
  /** Names of the files that hold content. */
  files(): readonly string[];
  /** The calls that the server has seen, by name. */
  readonly callsLog: string;
  remove(): Promise<void>;
}

const RULES = {
  '*': {
    mode: 'task-optional',
    effect: 'read',
    syncWindow: '0ms',
    pollInterval: '50ms',
    artifacts: 'on',
  },
  plain_text: { artifacts: 'off' },
  take: { artifactArguments: ['file'] },
};

export function createArtifactSite({ tools = {}, limits, redact }: SiteOptions = {}): ArtifactSite {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-artifacts-'));
  const [config, data] = [join(folder, 'longcall.yaml'), join(folder, 'data')];
  const callsLog = join(folder, 'calls.log');
  const { command, args } = typescriptCommand(SERVER);
  const large = {
    command: [command, ...args],
    env: { CALLS_LOG: callsLog },
    tools: { ...RULES, ...tools },
  };
  writeFileSync(callsLog, '');
  const said = {
    upstreams: { large },
    ...(limits ? { limits } : {}),
    ...(redact ? { redact } : {}),
  };
  writeFileSync(config, JSON.stringify(said)); // YAML takes JSON
  const env = { LONGCALL_IDENTITY_TOKENS: writeTokens(folder) };
  let running: GatewayProcess | undefined;
  const gateway = (): GatewayProcess => {
    if (!running) throw new Error('no gateway was started');
    return running;
  };
  const endpoint = (person: Person) => ({ url: gateway().url, headers: bearerOf(person) });
  return {
    folder,
    callsLog,
    gateway,
    async start(crashAt) {
      running = await startGateway({ config, data, env, ...(crashAt ? { crashAt } : {}) });
      return running;
    },
    session: (person) => openSession(endpoint(person)),
    client: (person) => createClient2026(endpoint(person)),
    fetch(person, path, init = {}) {
      const bearer = person === undefined ? {} : bearerOf(person);
      const headers = { ...bearer, ...(init.headers as Record<string, string> | undefined) };
      return fetch(new URL(path, gateway().url), { ...init, headers });
    },
    files: () => readdirSync(join(data, 'artifacts')),
    async remove() {
      await running?.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Block = Readonly<Record<string, unknown>>;

export const blocksOf = (result: unknown): readonly Block[] =>
  (result as { readonly content: readonly Block[] }).content;

/** The links of a result, in order. */
export const linksOf = (result: unknown): readonly Block[] =>
  blocksOf(result).filter(({ type }) => type === 'resource_link');

/** The path under which an artifact is read over HTTP. */
export const pathOf = (uri: unknown): string => `/${String(uri).replace('longcall://', '')}`;
