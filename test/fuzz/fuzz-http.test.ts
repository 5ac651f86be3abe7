import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { bearerOf } from '../crash/people.ts';
import { createEffects } from '../crash/site.ts';
import { launchUpstream } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import { createClient2026, DECLARES_NO_TASKS } from '../wire/client.ts';
import type { Session2025 } from '../wire/client.ts';
import { callAsTask, reaches, textOf } from '../wire/steps.ts';
import { adminDoor, aliceSession, door2025, door2026 } from './doors.ts';
import { driveHttp } from './drive-http.ts';
import { startFuzzedGateway } from './fuzzed-gateway.ts';
import type { FuzzedGateway } from './fuzzed-gateway.ts';
import { expectNoLeak } from './heap-check.ts';
import type { Door } from './http-inputs.ts';
import type { Exchange } from './raw-http.ts';
import { seedOfRun } from './seeded-random.ts';
import { FUZZ_MS_MAX, volumeOf } from './volume.ts';

const SEED = seedOfRun();
/** So many inputs between two looks at whether good calls work. */
const BETWEEN_LOOKS = 400;
/** The part of the inputs after which the heap is what it is going to be. */
const WARM_UP = 0.3;

const effects = createEffects();
let upstream: HttpUpstream;
let gateway: FuzzedGateway;

beforeAll(async () => {
  process.stdout.write(`fuzz: FUZZ_SEED=${SEED}\n`);
  upstream = await launchUpstream('effects');
});
afterAll(async () => {
  await upstream.stop();
  effects.remove();
});
beforeEach(async () => {
  gateway = await startFuzzedGateway(upstream.url);
});
afterEach(() => gateway.stop());

const mcpUrl = (): string => `http://127.0.0.1:${gateway.port}/mcp`;
const client = () => createClient2026({ url: mcpUrl(), headers: bearerOf('alice') });

/** A task of alice's that has ended. */
async function endedTask(): Promise<string> {
  const options = { args: { tag: 'subject', ms: 200 } };
  const taskId = await callAsTask(client(), 'slow', options);
  await reaches(client(), taskId, 'completed');
  return taskId;
}

/** A good call works, and the one to the upstream comes back with what only the upstream knows. */
async function expectService(): Promise<void> {
  expect(gateway.isAlive(), gateway.output()).toBe(true);
  const call = { name: 'append', arguments: { tag: 'good' } };
  const reply = await client().request('tools/call', call, { capabilities: DECLARES_NO_TASKS });
  expect(textOf(reply.result), JSON.stringify(reply)).toBe('appended good');
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
}

/** Sessions that inputs have opened by chance are ended: they would be kept for half an hour. */
async function endSession({ answers }: Exchange, own: string): Promise<void> {
  for (const { headers } of answers) {
    const id = headers.get('mcp-session-id');
    if (id === undefined || id === own) continue;
    await fetch(mcpUrl(), {
      method: 'DELETE',
      headers: { ...bearerOf('alice'), 'mcp-session-id': id },
    });
  }
}

interface Volley {
  readonly count: number;
  readonly codeType: 'number' | 'string';
  readonly port: () => number;
  /** Opens the door anew: an input may have closed it. */
  open(): Promise<{ readonly door: Door; readonly session?: string }>;
}

async function fuzz({ count, codeType, port, open }: Volley): Promise<void> {
  await expectService();
  let before = 0;
  for (let first = 0; first < count; first += BETWEEN_LOOKS) {
    const { door, session = '' } = await open();
    await driveHttp({
      port: port(),
      door,
      seed: SEED,
      first,
      count: Math.min(BETWEEN_LOOKS, count - first),
      codeType,
      onExchange: (result) => endSession(result, session),
    });
    await expectService();
    if (before === 0 && first >= count * WARM_UP) before = await gateway.heapBytes();
  }
  await expectNoLeak(gateway, before);
}

verifies(
  ['G1-97', 'G1-124', 'G1-125', 'G1-132', 'G1-133', 'T15'],
  `what is no good message of 2025-11-25 breaks nothing (FUZZ_SEED=${SEED})`,
  async () => {
    const taskId = await endedTask();
    let session: Session2025 | undefined;
    await fuzz({
      count: volumeOf('http2025'),
      codeType: 'number',
      port: () => gateway.port,
      async open() {
        await session?.end();
        session = await aliceSession(gateway.port);
        return { door: door2025(gateway.port, session, { taskId }), session: session.id };
      },
    });
  },
  FUZZ_MS_MAX,
);

verifies(
  ['G2-115', 'G2-119', 'G2-162', 'T25', 'T28', 'T39'],
  `what is no good message of 2026-07-28 breaks nothing (FUZZ_SEED=${SEED})`,
  async () => {
    const taskId = await endedTask();
    await fuzz({
      count: volumeOf('http2026'),
      codeType: 'number',
      port: () => gateway.port,
      open: () => Promise.resolve({ door: door2026(gateway.port, { taskId }) }),
    });
  },
  FUZZ_MS_MAX,
);

verifies(
  ['G1-133', 'G2-162'],
  `what operators would never ask breaks nothing (FUZZ_SEED=${SEED})`,
  async () => {
    const taskId = await endedTask();
    await fuzz({
      count: volumeOf('admin'),
      codeType: 'string',
      port: () => Number(new URL(gateway.admin.url).port),
      open: () => Promise.resolve({ door: adminDoor(gateway.admin, { taskId }) }),
    });
  },
  FUZZ_MS_MAX,
);
