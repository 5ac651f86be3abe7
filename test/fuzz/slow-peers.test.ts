import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEffects, createSite } from '../crash/site.ts';
import type { Site } from '../crash/site.ts';
import { launchUpstream } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';

const IS_LONG = process.env['LONGCALL_TEST_LONG'] === '1';

const effects = createEffects();
let upstream: HttpUpstream;
let site: Site;

beforeAll(async () => {
  upstream = await launchUpstream('effects');
  site = createSite({ effects, upstream: { url: upstream.url } });
  await site.start();
});
afterAll(async () => {
  await site.remove();
  await upstream.stop();
  effects.remove();
});

interface Ended {
  readonly said: string;
  readonly afterMs: number;
}

/** Writes a beginning, says nothing more and stays; resolves when the other side has ended the connection. */
function stay(port: number, beginning: string): Promise<Ended> {
  const began = performance.now();
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let said = '';
    socket.on('connect', () => socket.write(beginning));
    socket.on('data', (chunk) => (said += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve({ said, afterMs: performance.now() - began }));
  });
}

const PORTS = {
  MCP: () => Number(new URL(site.gateway().url).port),
  admin: () => Number(new URL(site.admin().url).port),
} as const;

const HEAD = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
/** Heads have 10 s and bodies 60 s to come, looked at every 2 s. */
const PEERS = [
  { what: 'a head that does not end', beginning: HEAD, withinMs: 15_000, long: false },
  { what: 'a connection that says nothing', beginning: '', withinMs: 15_000, long: false },
  {
    what: 'a body that does not end',
    beginning: `${HEAD}content-length: 100\r\n\r\n{`,
    withinMs: 70_000,
    long: true,
  },
  {
    what: 'chunks that do not end',
    beginning: `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
    withinMs: 70_000,
    long: true,
  },
] as const;

describe.each(Object.entries(PORTS))('at the %s listener', { concurrent: true }, (_, port) => {
  for (const { what, beginning, withinMs, long } of PEERS)
    test.skipIf(long && !IS_LONG)(
      `${what} is not waited for without end`,
      async () => {
        const peers = Array.from({ length: 20 }, () => stay(port(), beginning));
        for (const { said, afterMs } of await Promise.all(peers)) {
          expect(afterMs).toBeLessThan(withinMs);
          expect(said).toMatch(/^(?:HTTP\/1\.1 40[018] |$)/);
        }
      },
      withinMs + 10_000,
    );
});
