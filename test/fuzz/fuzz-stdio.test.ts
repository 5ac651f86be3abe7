import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { launchUpstream } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import { driveStdio, openStdioClient } from './drive-stdio.ts';
import { startFuzzedGateway } from './fuzzed-gateway.ts';
import type { FuzzedGateway } from './fuzzed-gateway.ts';
import { expectNoLeak } from './heap-check.ts';
import { seedOfRun } from './seeded-random.ts';
import { messages2025, messages2026 } from './valid-messages.ts';
import type { Message } from './valid-messages.ts';
import { FUZZ_MS_MAX, volumeOf } from './volume.ts';

const SEED = seedOfRun();
const WARM_UP = 0.3;
/** Nobody's task: over stdio there is only one person, whose tasks the inputs make themselves. */
const SUBJECT = { taskId: 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA' };

let upstream: HttpUpstream;
let gateway: FuzzedGateway;

beforeAll(async () => {
  process.stdout.write(`fuzz: FUZZ_SEED=${SEED}\n`);
  upstream = await launchUpstream('effects');
});
afterAll(() => upstream.stop());
beforeEach(async () => {
  gateway = await startFuzzedGateway(upstream.url, { stdio: true });
});
afterEach(() => gateway.stop());

const first = (messages: readonly Message[], method: string): Message => {
  const found = messages.find((message) => message['method'] === method);
  if (!found) throw new Error(`there is no ${method}`);
  return found;
};

/** What each generation begins with, and what it can always be asked. */
const GENERATIONS = [
  { kind: 'stdio2025', messages: messages2025(SUBJECT), opening: 'initialize', good: 'ping' },
  {
    kind: 'stdio2026',
    messages: messages2026(SUBJECT),
    opening: 'server/discover',
    good: 'tools/list',
  },
] as const;

describe.each(GENERATIONS)('over $kind', ({ kind, messages, opening, good }) => {
  verifies(
    ['G1-111', 'G2-115', 'T25'],
    `lines that are no good messages break nothing (FUZZ_SEED=${SEED})`,
    async () => {
      const client = openStdioClient(gateway.child);
      const opened = await client.request({ ...first(messages, opening), id: 'opening' });
      expect(opened['result'], JSON.stringify(opened)).toBeDefined();
      const run = { client, messages, good: first(messages, good), seed: SEED };
      const count = volumeOf(kind);
      const warmUp = Math.ceil(count * WARM_UP);
      await driveStdio({ ...run, first: 0, count: warmUp });
      const before = await gateway.heapBytes();
      await driveStdio({ ...run, first: warmUp, count: count - warmUp });
      await expectNoLeak(gateway, before);
      const exited = once(gateway.child, 'exit');
      gateway.child.stdin?.end();
      expect(await exited, 'it leaves when its client does').toEqual([0, null]);
    },
    FUZZ_MS_MAX,
  );
});
