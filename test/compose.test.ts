import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createGatewayApp,
  loadConfig,
  type AppOverrides,
  type ConfigFlags,
  type GatewayApp,
} from '../src/gateway.ts';
import { configFor, createPlace, FIXTURE, type Place } from './cli/gateway-process.ts';
import { openSession } from './cli/mcp-session.ts';

let place: Place;
const running: GatewayApp[] = [];
beforeEach(() => {
  place = createPlace();
  place.write('longcall.yaml', configFor(FIXTURE, 'mode: task-optional, effect: read'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((app) => app.stop(0)));
  place.remove();
});

async function start(flags: ConfigFlags = {}, overrides: AppOverrides = {}): Promise<GatewayApp> {
  const app = await createGatewayApp(loadConfig({ cwd: place.folder, env: {}, flags }), overrides);
  running.push(app);
  return app;
}

describe('a gateway inside a program', () => {
  test('serves until it is stopped, and may be started again on the same data', async () => {
    const first = await start();
    const taskId = await startTask(first);
    await Promise.all([first.stop(1000), first.stop(1000)]);
    await expect(openSession(first.mcpUrl ?? '')).rejects.toThrow('fetch failed');
    const second = await start();
    const session = await openSession(second.mcpUrl ?? '', second.localToken);
    expect(second.localToken).toBe(first.localToken);
    expect((await session.call('tasks/get', { taskId })).result).toMatchObject({ taskId });
  });

  test('tells its upstreams and tools', async () => {
    const app = await start();
    expect(app.upstreams()).toMatchObject([
      {
        name: 'fixture',
        state: 'up',
        transport: 'stdio',
        protocolVersion: expect.any(String) as string,
      },
    ]);
    expect(app.surface.tools().map(({ mode }) => mode)).toContain('task-optional');
  });

  test('without a log says nothing, with one says it there', async () => {
    const lines: string[] = [];
    await start({}, { log: { write: (text) => void lines.push(text), isTty: false } });
    expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      'upstream.up',
      'recovery.done',
      'gateway.started',
    ]);
  });

  async function startTask(app: GatewayApp): Promise<string> {
    const session = await openSession(app.mcpUrl ?? '', app.localToken);
    return session.startTask('slow_compute', { seconds: 0 });
  }
});

describe('a start that fails', () => {
  test.each(['listen', 'admin'] as const)('because of --%s gives everything back', async (flag) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(start({ [flag]: `127.0.0.1:${port}` })).rejects.toMatchObject({
      code: 'LONGCALL_LISTEN_FAILED',
    });
    expect(existsSync(join(place.data, 'endpoint.json'))).toBe(false);
    expect(JSON.parse(readFileSync(join(place.data, 'children.json'), 'utf8'))).toEqual([]);
    taken.close();
    await start();
  });

  test('because of the data directory leaves the one that holds it alone', async () => {
    const first = await start();
    await expect(start()).rejects.toMatchObject({ code: 'LONGCALL_DATA_LOCKED' });
    expect((await openSession(first.mcpUrl ?? '')).status).toBe(200);
  });
});

test('over streams of a program it serves one client and ends with it', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const app = await start({}, { stdio: { input, output } });
  expect(app.mcpUrl).toBeUndefined();
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const [answer] = (await once(output, 'data')) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({
    id: 1,
    result: { protocolVersion: '2025-11-25' },
  });
  input.end();
  await app.closed;
});
