import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createPlace, type Place } from '../cli/gateway-process.ts';
import { startGateway, type GatewayProcess } from '../crash/gateway-process.ts';
import { upstreamCommand } from '../fixtures/upstreams/launch.ts';
import { caller2026, resultOf, WITH_TASKS } from '../faces/wire.ts';
import { restClient } from '../rest/rest-client.ts';
import { factsOf, jobOf, textsOf } from './hosts.ts';

const INFO = { name: 'host', version: '1.0.0' };

interface Host {
  call(name: string, args?: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

interface Site {
  readonly place: Place;
  readonly gateway: GatewayProcess;
  readonly token: string;
}

/** A gateway as its users run it, in front of a server that knows nothing of any of this. */
async function open(place: Place, rest = ''): Promise<Site> {
  const { command, args } = upstreamCommand('effects');
  const config = place.write(
    'longcall.yaml',
    `upstreams:
  effects:
    command: ${JSON.stringify([command, ...args])}
    env: { EFFECTS_LOG: ${JSON.stringify(join(place.folder, 'effects.log'))} }
    tools: { "*": { mode: task-optional, effect: read, jobWindow: 300ms } }
${rest}`,
  );
  const gateway = await startGateway({ config, data: place.data });
  const token = readFileSync(join(place.data, 'local-token'), 'utf8').trim();
  return { place, gateway, token };
}

/** Hosts of today, with what their SDKs know of Tasks left unused. */
const HOSTS: Readonly<Record<string, (site: Site) => Promise<Host>>> = {
  async 'SDK v1'({ gateway, token }) {
    const client = new ClientV1(INFO);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new HttpV1(new URL(gateway.url), { requestInit }));
    await client.listTools();
    return {
      call: async (name, args = {}) =>
        (await client.callTool({ name, arguments: args })) as unknown as JsonObject,
      close: () => client.close(),
    };
  },
  async 'SDK v2'({ gateway, token }) {
    const client = new ClientV2(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new HttpV2(new URL(gateway.url), { requestInit }));
    await client.listTools();
    return {
      call: async (name, args = {}) =>
        (await client.callTool({ name, arguments: args })) as unknown as JsonObject,
      close: () => client.close(),
    };
  },
};

/** A model that reads texts alone, and calls whatever they tell it to. Counts its turns. */
async function obey(host: Host, name: string, args: JsonObject) {
  let turns = 1;
  let answer = await host.call(name, args);
  for (;;) {
    const told = /Call (longcall_\w+) with (\{.*?\})|call (longcall_wait) with (\{.*?\})/.exec(
      textsOf(answer)[0] ?? '',
    );
    if (!told || turns >= 50) return { turns, answer };
    turns += 1;
    answer = await host.call(
      told[1] ?? told[3] ?? '',
      JSON.parse(told[2] ?? told[4] ?? '{}') as JsonObject,
    );
  }
}

let place: Place;
beforeEach(() => {
  place = createPlace();
  onTestFinished(() => place.remove());
});

const running = async (rest = ''): Promise<Site> => {
  const site = await open(place, rest);
  onTestFinished(() => site.gateway.kill());
  return site;
};

describe.each(Object.entries(HOSTS))(
  '%s without Tasks, in front of a server that nobody changed',
  (_name, connect) => {
    const connected = async (site: Site): Promise<Host> => {
      const host = await connect(site);
      onTestFinished(() => host.close());
      return host;
    };

    test('a model that polls blindly needs three turns and not forty, one that never polls loses nothing [O2]', async () => {
      const host = await connected(await running());
      const { turns, answer } = await obey(host, 'slow', { ms: 2_500, tag: 'blind' });
      expect(textsOf(answer).at(-1)).toBe('slow blind is done');
      expect(turns).toBeLessThanOrEqual(3);

      const forgotten = await host.call('slow', { ms: 400, tag: 'forgotten' });
      await host.call('slow', { ms: 900, tag: 'something else' });
      const later = await host.call('longcall_result', { job: jobOf(forgotten) });
      expect(textsOf(later).at(-1)).toBe('slow forgotten is done');
    });

    test('the gateway is killed in the middle, and the job is collected from the next one', async () => {
      const first = await open(place);
      const before = await connect(first);
      const started = await before.call('slow_once', { ms: 60_000, tag: 'killed' });
      const job = jobOf(started);
      await first.gateway.kill();
      await before.close().catch(() => undefined);
      const second = await running();
      const host = await connected(second);
      expect(textsOf(await host.call('longcall_wait', { job })).at(-1)).toBe('slow killed is done');
      const rest = restClient(new URL(second.gateway.url).origin, second.token);
      expect((await rest.ask(`/jobs/${job}`)).body).toMatchObject({
        protocol: { phase: 'ended', ending: 'result' },
      });
      const tasks = caller2026(second.gateway.url, second.token, WITH_TASKS);
      expect(resultOf(await tasks.call('tasks/get', { taskId: job }))).toMatchObject({
        status: 'completed',
      });
    });

    test('a host that shows 25 KB reads a large result in parts, and nothing of it is missing', async () => {
      const host = await connected(await running());
      const bytes = 300_000;
      const started = await host.call('big', { bytes });
      const job = jobOf(started);
      let answer = await host.call('longcall_wait', { job });
      const { parts } = factsOf(answer);
      let text = '';
      for (let part = 1; ; part += 1) {
        expect(Buffer.byteLength(JSON.stringify(answer['content']))).toBeLessThanOrEqual(25_000);
        text += textsOf(answer)[1] ?? '';
        if (part === parts) break;
        answer = await host.call('longcall_result', { job, part: part + 1 });
      }
      expect(text).toBe('x'.repeat(bytes));
      const beyond = await host.call('longcall_result', { job, part: parts + 1 });
      expect(beyond['isError']).toBe(true);
    });

    test('a result of 20 MB does not overflow the model, and is kept [Z1]', async () => {
      const site = await running('limits: { result: { hard: 32MiB } }');
      const host = await connected(site);
      const bytes = 20 * 1024 ** 2;
      const { turns, answer } = await obey(host, 'big', { bytes });
      expect(turns).toBeLessThanOrEqual(3);
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(30_000);
      expect(factsOf(answer)).toMatchObject({ bytes, part: 1 });
      const rest = restClient(new URL(site.gateway.url).origin, site.token);
      const { text } = await rest.ask(`/jobs/${jobOf(answer)}/result`);
      expect(text.length).toBeGreaterThan(bytes);
    });

    test('a tool with an outputSchema goes on with its handle and ends with what it promised', async () => {
      const host = await connected(await running());
      expect(await host.call('structured', { tag: 'fits' })).toMatchObject({
        structuredContent: { tag: 'fits', length: 4 },
      });
    });
  },
);
