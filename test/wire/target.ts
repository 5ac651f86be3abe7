import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endEnginesIn } from '../background/engine-of.ts';
import { createEffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import type { EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import { launchHttp } from '../fixtures/upstreams/launch.ts';
import type { Command } from '../fixtures/upstreams/launch.ts';
import type { WireTarget } from './check.ts';
import type { SessionOptions } from './client.ts';
import { startPipe } from './pipe.ts';
import type { Pipe } from './pipe.ts';
import { REFERENCE_PAGE_SIZE, startReference } from './reference.ts';

/** The servers that the checks can be run against. */
export const TARGETS = ['reference', 'gateway'] as const;
export type TargetName = (typeof TARGETS)[number];

/** A target that is running. */
export interface RunningTarget extends WireTarget {
  stop(): Promise<void>;
}

/** Two people of two tenants, each with a token. Without a token nobody is served by this gateway. */
const PEOPLE = [
  { name: 'alice', subject: 'alice', tenant: 'north', token: 'token-of-alice-for-tests-only' },
  { name: 'bob', subject: 'bob', tenant: 'south', token: 'token-of-bob-for-tests-only' },
] as const;

const [ALICE, BOB] = PEOPLE;
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** The one place that chooses what the wire suite judges. `LONGCALL_WIRE_TARGET` overrides it. */
export function chosenTarget(): TargetName {
  const named = process.env['LONGCALL_WIRE_TARGET'];
  return TARGETS.find((name) => name === named) ?? 'gateway';
}

/** Starts the chosen target. */
export const startTarget = (name: TargetName = chosenTarget()): Promise<RunningTarget> =>
  name === 'gateway' ? startGatewayTarget() : startReferenceTarget();

let sharedEffects: EffectsReader | undefined;

/** The reference runs its tools in this process, so all references of a process write one log. */
function effectsOfThisProcess(): EffectsReader {
  if (sharedEffects) return sharedEffects;
  const effects = createEffectsReader();
  process.env['EFFECTS_LOG'] = effects.file;
  process.once('exit', effects.remove);
  sharedEffects = effects;
  return effects;
}

async function startReferenceTarget(): Promise<RunningTarget> {
  const effects = effectsOfThisProcess();
  const { url, stop } = await startReference({ [ALICE.token]: 'alice', [BOB.token]: 'bob' });
  return {
    url,
    alice: { url, headers: bearer(ALICE.token) },
    bob: { url, headers: bearer(BOB.token) },
    anonymous: { url, headers: {} },
    listPageSize: REFERENCE_PAGE_SIZE,
    effects: effects.lines,
    stop,
  };
}

/** How many tasks the gateway shows per page of `tasks/list`. */
const GATEWAY_PAGE_SIZE = 50;

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

async function startGatewayTarget(): Promise<RunningTarget> {
  const effects = createEffectsReader();
  const folder = mkdtempSync(join(tmpdir(), 'longcall-wire-'));
  const tokens = join(folder, 'tokens.yaml');
  writeFileSync(tokens, tokensFile(), { mode: 0o600 });
  const start = (data: string, env: Readonly<Record<string, string>>) =>
    launchHttp(gatewayCommand(join(folder, data)), {
      EFFECTS_LOG: effects.file,
      NODE: process.execPath,
      ...env,
    });
  // Where there are tokens nobody is served without one, so anonymous callers get a gateway of their own.
  const [known, open] = await Promise.all([
    start('known', { LONGCALL_IDENTITY_TOKENS: tokens }),
    start('open', {}),
  ]);
  return {
    url: known.url,
    alice: { url: known.url, headers: bearer(ALICE.token) },
    bob: { url: known.url, headers: bearer(BOB.token) },
    anonymous: { url: open.url, headers: {} },
    listPageSize: GATEWAY_PAGE_SIZE,
    effects: effects.lines,
    async stop() {
      await Promise.all([known.stop(), open.stop()]);
      effects.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The gateway as hosts start it: over the pipes of a front, whose engine outlives it, for the local user alone. */
export function createStdioTarget(): RunningTarget {
  const effects = createEffectsReader();
  const folder = mkdtempSync(join(tmpdir(), 'longcall-wire-'));
  const pipes = new Map<string, Pipe>();
  const pipeFor = (options: SessionOptions): Pipe => {
    const way = JSON.stringify(options);
    const existing = pipes.get(way);
    if (existing) return existing;
    const env = { ...process.env, EFFECTS_LOG: effects.file, NODE: process.execPath };
    const pipe = startPipe(gatewayCommand(join(folder, `data-${pipes.size}`), '--stdio'), env);
    pipes.set(way, pipe);
    return pipe;
  };
  const alice = { url: '', headers: {}, pipeFor };
  return {
    url: '',
    alice,
    // Nobody else is at the other end of a pipe.
    bob: alice,
    anonymous: undefined,
    listPageSize: GATEWAY_PAGE_SIZE,
    effects: effects.lines,
    async stop() {
      await Promise.all(Array.from(pipes.values(), (pipe) => pipe.stop()));
      await endEnginesIn(folder);
      effects.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

function gatewayCommand(data: string, ...more: readonly string[]): Command {
  const addresses = more.includes('--stdio') ? [] : ['--listen', '127.0.0.1:0'];
  const config = fromRoot('test/wire/longcall.yaml');
  const places = ['--config', config, '--data', data, '--admin', '127.0.0.1:0'];
  const args = [fromRoot('bin/longcall.js'), 'gateway', ...places, ...addresses, ...more];
  return { command: process.execPath, args };
}

function tokensFile(): string {
  return PEOPLE.map(({ name, subject, tenant, token }) => {
    const sha256 = createHash('sha256').update(token).digest('hex');
    return `- { name: ${name}, subject: ${subject}, tenant: ${tenant}, sha256: "${sha256}" }\n`;
  }).join('');
}
