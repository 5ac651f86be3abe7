import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type GatewayProcess } from '../crash/gateway-process.ts';
import { bearerOf, writeTokens } from '../crash/people.ts';
import { openRelay } from '../crash/relay.ts';
import { until } from '../crash/until.ts';
import { createEffectsReader, type EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import { launchUpstream, type HttpUpstream } from '../fixtures/upstreams/launch.ts';
import { createClient2026, type Client2026 } from '../wire/client.ts';
import { TERMINAL } from '../wire/steps.ts';

/** An upstream with its effects. */
interface Home extends HttpUpstream {
  readonly effects: EffectsReader;
}

async function createHome(): Promise<Home> {
  const effects = createEffectsReader();
  const upstream = await launchUpstream('effects', { EFFECTS_LOG: effects.file });
  onTestFinished(async () => {
    await upstream.stop();
    effects.remove();
  });
  return { ...upstream, effects };
}

/** Starts gateways on one data directory, one after the other. */
function createPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-home-'));
  const config = join(folder, 'longcall.yaml');
  const env = { LONGCALL_IDENTITY_TOKENS: writeTokens(folder) };
  let running: GatewayProcess | undefined;
  onTestFinished(async () => {
    await running?.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  return async (upstreams: Readonly<Record<string, object>>): Promise<GatewayProcess> => {
    await running?.kill();
    writeFileSync(config, JSON.stringify({ upstreams }));
    running = await startGateway({ config, data: join(folder, 'data'), env });
    return running;
  };
}

const RULE = { mode: 'task-optional', effect: 'consequential', syncWindow: '0ms', concurrency: 1 };

const entry = ({ url }: Pick<HttpUpstream, 'url'>, rule: object = {}) => ({
  url,
  tools: { append: { ...RULE, ...rule } },
});

const clientOf = ({ url }: GatewayProcess): Client2026 =>
  createClient2026({ url, headers: bearerOf('alice') });

async function start(gateway: GatewayProcess, args: object): Promise<string> {
  const call = { name: 'append', arguments: args };
  const { result } = await clientOf(gateway).request('tools/call', call);
  return String(result?.['taskId']);
}

/** Starts a call that runs for a minute, and one that waits behind it. Resolves with the task of the latter. */
async function queueBehind(gateway: GatewayProcess, { effects }: Home): Promise<string> {
  await start(gateway, { tag: 'first', ms: 60_000 });
  await until(() => effects.lines('first')[0], 'the first call to begin');
  return start(gateway, { tag: 'second', ms: 300 });
}

const endOf = (gateway: GatewayProcess, taskId: string) =>
  until(async () => {
    const { result } = await clientOf(gateway).request('tasks/get', { taskId });
    return TERMINAL.includes(String(result?.['status'])) ? result : undefined;
  }, 'the end of the call');

test('a call that was queued for one upstream never takes effect at another with a tool of its name', async () => {
  const [staging, production] = [await createHome(), await createHome()];
  const serve = createPlace();
  const task = await queueBehind(await serve({ staging: entry(staging) }), staging);
  const end = await endOf(await serve({ production: entry(production) }), task);
  expect(end).toMatchObject({ status: 'failed', error: { data: { reason: 'tool_gone' } } });
  expect([...staging.effects.lines('second'), ...production.effects.lines()]).toEqual([]);
});

test('calls that were queued for an upstream which has moved wait until it is reached, and keep to their cap', async () => {
  const home = await createHome();
  const relay = await openRelay(() => Number(new URL(home.url).port));
  await relay.close();
  onTestFinished(() => relay.close());
  const serve = createPlace();
  const before = await serve({ up: entry(home) });
  const tasks = [await queueBehind(before, home), await start(before, { tag: 'third', ms: 300 })];
  const moved = await serve({ up: entry({ url: `http://127.0.0.1:${relay.port}/mcp` }) });
  await relay.open();
  for (const task of tasks) expect(await endOf(moved, task)).toMatchObject({ status: 'completed' });
  const lines = home.effects.lines().filter(({ tag }) => tag !== 'first');
  expect(lines.map(({ tag, event }) => `${tag} ${event}`)).toEqual([
    'second start',
    'second finish',
    'third start',
    'third finish',
  ]);
});

test('a call that was queued is not sent where policy refuses its tool by now', async () => {
  const home = await createHome();
  const serve = createPlace();
  const task = await queueBehind(await serve({ up: entry(home) }), home);
  const end = await endOf(await serve({ up: entry(home, { mode: 'refuse' }) }), task);
  expect(end).toMatchObject({ status: 'failed', error: { data: { reason: 'tool_gone' } } });
  expect(home.effects.lines('second')).toEqual([]);
});
