import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import type { TaskDetail } from '../../src/admin/documents.ts';
import { createSeededRandom, seedOfRun } from '../fuzz/seeded-random.ts';
import type { SeededRandom } from '../fuzz/seeded-random.ts';
import { verifies } from '../requirements/verifies.ts';
import { VICTIMS } from './crash-rows.ts';
import { canHoldHandle, connectFront, FRONT_KINDS } from './front.ts';
import type { Front, FrontCall } from './front.ts';
import { frontName } from './judge.ts';
import { startMortalUpstream } from './mortal-upstream.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { IS_LONG, testMsFor } from './rounds.ts';
import { createEffects, createSite } from './site.ts';
import type { ServedEffect, Site } from './site.ts';
import { until, untilTrue } from './until.ts';

const KILLS = IS_LONG ? 60 : 4;
const CALLS_PER_LIFE = 6;
const LIFE_MS_MAX = 800;

const SEED = seedOfRun();
const effects = createEffects();
let upstream: MortalUpstream;
let site: Site;

beforeAll(async () => {
  upstream = await startMortalUpstream('effects', effects.file);
  site = createSite({ effects, upstream: { url: upstream.url } });
});
afterAll(async () => {
  await site.remove();
  await upstream.kill();
  effects.remove();
});

interface Made {
  readonly call: FrontCall;
  readonly effect: ServedEffect;
}

let front: Front;

async function live(): Promise<void> {
  front = await connectFront((await site.start()).url);
}

/** Calls of every kind, some of which are cancelled or answered while they run. */
function makeCalls(random: SeededRandom, life: number): readonly Made[] {
  return Array.from({ length: CALLS_PER_LIFE }, (_, at) => {
    const kind = random.pick(FRONT_KINDS);
    const effect = random.pick(['read', 'consequential'] as const);
    const tools = [
      'append',
      'slow',
      'fail',
      'protocol_error',
      ...(canHoldHandle(kind) ? ['ask', 'ask_twice'] : []),
    ];
    const tool = random.pick(tools);
    const args = { tag: `life-${life}-${at}-${tool}`, ms: random.below(600) };
    const call = front.call(kind, frontName({ effect }, tool), args);
    if (random.chance(0.5)) void meddle(call, random.below(LIFE_MS_MAX), random.chance(0.3));
    return { call, effect };
  });
}

/** The owner does something at a bad time. What comes of it does not matter here, only what is true afterwards. */
async function meddle(call: FrontCall, afterMs: number, cancels: boolean): Promise<void> {
  const { session, client } = front;
  const answer = await call.answer;
  await pause(afterMs);
  if (answer.kind !== 'handle') return;
  const { taskId } = answer;
  const is2025 = call.kind === '2025-task';
  if (cancels) {
    const cancel = is2025
      ? session.request('tasks/cancel', { taskId })
      : client.request('tasks/cancel', { taskId });
    await cancel.catch(() => undefined);
  } else await front.answer(call.kind, taskId, 'yes').catch(() => undefined);
}

async function kill(random: SeededRandom): Promise<string> {
  const victim = random.pick(VICTIMS);
  if (victim !== 'gateway') await upstream.kill();
  if (victim !== 'upstream') await site.gateway().kill();
  if (victim !== 'gateway') await upstream.revive();
  if (victim !== 'upstream') await live();
  return victim;
}

/** Cancels what still waits for an answer that nobody will give. */
async function settleAll(made: readonly Made[]): Promise<void> {
  await until(
    async () => {
      const open = (await site.admin().tasks()).filter(
        ({ protocol }) => protocol.phase !== 'ended',
      );
      if (open.length === 0) return true;
      for (const { call } of made) {
        const answer = await call.answer;
        const isOpen = answer.kind === 'handle' && open.some(({ id }) => id === answer.taskId);
        if (isOpen && answer.kind === 'handle') await cancelIfAsking(call, answer.taskId);
      }
      return undefined;
    },
    'the end of every task',
    60_000,
  );
}

async function cancelIfAsking(call: FrontCall, taskId: string): Promise<void> {
  const { status } = await front.view(call.kind, taskId);
  if (status === 'input_required') await front.cancel(call.kind, taskId);
}

const eventsOf = (tag: string) => effects.lines(tag).map(({ event }) => event);

function judge({ call, effect }: Made, record: TaskDetail | undefined): void {
  const events = eventsOf(call.tag);
  const sends = events.filter((event) => event === 'start').length;
  if (effect === 'consequential') expect(sends, `sends of ${call.tag}`).toBeLessThanOrEqual(1);
  if (!record) return;
  expect(record.protocol.phase, call.tag).toBe('ended');
  const state = record.operation?.state ?? 'none';
  if (effect === 'read') expect(state).toBe('none');
  else expect(['acknowledged', 'unknown', 'abandoned'], call.tag).toContain(state);
  if (state === 'abandoned') expect(events, `${call.tag} was abandoned`).toEqual([]);
  if (state === 'acknowledged' && !/fail|protocol_error/.test(call.tag))
    expect(
      events.includes('finish') || events.includes('answered'),
      `${call.tag} was answered: ${events.join()}`,
    ).toBe(true);
}

verifies(
  ['G1-22', 'G2-23', 'G2-27', 'T9', 'T27'],
  `at random times, ${KILLS} kills (FUZZ_SEED=${SEED}): every task ends, every handle leads to it, nothing but a read is sent twice`,
  async () => {
    process.stdout.write(`random kills: FUZZ_SEED=${SEED}\n`);
    await live();
    const made: Made[] = [];
    const ended = new Map<string, string>();
    for (let life = 1; life <= KILLS; life += 1) {
      const random = createSeededRandom(SEED, life);
      made.push(...makeCalls(random, life));
      await pause(random.below(LIFE_MS_MAX));
      await kill(random);
      for (const { id, protocol } of await site.admin().tasks()) {
        const end = `${protocol.phase} ${protocol.ending}`;
        if (ended.has(id)) expect(end, `the end of ${id} after another life`).toBe(ended.get(id));
        if (protocol.phase === 'ended') ended.set(id, end);
      }
    }
    await settleAll(made);
    for (const one of made) {
      const answer = await one.call.answer;
      const record = answer.kind === 'handle' ? await site.admin().task(answer.taskId) : undefined;
      judge(one, record);
    }
    await untilTrue(
      async () => (await front.client.request('server/discover')).result !== undefined,
      'an answer',
    );
  },
  testMsFor(KILLS),
);
