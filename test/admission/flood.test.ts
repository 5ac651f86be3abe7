import { expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { RunEnd, RunTool } from '../../src/runtime/job.ts';
import type { Started } from '../../src/runtime/receiver.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  answered,
  BOB,
  callOf,
  clockAfter,
  createReceivingSide,
  freshPath,
  readTool,
  settleDown,
  toldToStop,
  until,
} from '../runtime/receiving-side.ts';

/** A downstream that counts who is in it at once, and lets go when it is told to. */
function createDownstream() {
  const inside: { readonly owner: string; readonly leave: () => void }[] = [];
  const seen = { most: 0, served: 0, owners: [] as string[] };
  const run: RunTool = async ({ task, signal }) => {
    const left = new Promise<void>((resolve) => {
      inside.push({ owner: task.owner, leave: resolve });
    });
    seen.most = Math.max(seen.most, inside.length);
    seen.owners.push(task.owner);
    await Promise.race([left, toldToStop(signal)]);
    seen.served += 1;
    return answered('done');
  };
  return { run, seen, inside, letOneGo: () => inside.shift()?.leave() };
}

const CAP = 8;
const QUEUE = 16;
const capped: ServedTool = { ...readTool, concurrency: CAP, queueMax: QUEUE };
const kindsOf = (started: readonly Started[], kind: Started['kind']): number =>
  started.filter((one) => one.kind === kind).length;

test('of 150 calls at once 8 run, 16 wait, and the rest hear when to come back [B1]', async () => {
  const downstream = createDownstream();
  const side = await createReceivingSide({ run: downstream.run, tools: [capped] });
  await side.open();
  const { receiver } = side.runtime;
  const started = await Promise.all(
    Array.from({ length: 150 }, () => receiver.start(callOf(capped))),
  );
  expect(kindsOf(started, 'started')).toBe(CAP + QUEUE);
  const refused = started.filter((one) => one.kind === 'full');
  expect(refused).toHaveLength(150 - CAP - QUEUE);
  expect(new Set(refused.map(({ limit }) => limit))).toEqual(new Set(['queuedOfTool']));
  expect(refused.every(({ retryAfterMs }) => retryAfterMs > 0)).toBe(true);

  await until(() => downstream.inside.length === CAP);
  await settleDown();
  expect(downstream.seen.most).toBe(CAP);
  while (downstream.seen.served < CAP + QUEUE) {
    downstream.letOneGo();
    await settleDown();
  }
  expect(downstream.seen.most).toBe(CAP);
  expect((await receiver.start(callOf(capped))).kind).toBe('started');
});

test('a restart in the middle of a flood does not let more in than the cap [B1]', async () => {
  const path = freshPath();
  const clock = createManualClock();
  const before = createDownstream();
  const first = await createReceivingSide({ path, clock, run: before.run, tools: [capped] });
  await first.open();
  const tasks = await Promise.all(
    Array.from({ length: CAP + QUEUE }, () => first.call(callOf(capped))),
  );
  await Promise.all(tasks.map(({ id }) => first.runtime.receiver.handleGiven(id)));
  await until(() => before.inside.length === CAP);
  await first.die();

  const after = createDownstream();
  const second = await createReceivingSide({
    path,
    clock: clockAfter(clock),
    run: after.run,
    tools: [capped],
  });
  await second.open();
  await until(() => after.inside.length === CAP);
  await settleDown();
  expect(after.seen.most).toBe(CAP);
  while (after.seen.served < CAP + QUEUE) {
    after.letOneGo();
    await settleDown();
  }
  expect(after.seen.most).toBe(CAP);
  for (const task of tasks) expect((await second.row(task)).ending).toBe('result');
});

test('who floods the queue delays the first call of another by one place at most', async () => {
  const FLOOD = 10_000;
  const downstream = createDownstream();
  const narrow: ServedTool = { ...readTool, concurrency: 1 };
  const side = await createReceivingSide({
    run: downstream.run,
    tools: [narrow],
    open: FLOOD + 1,
    limits: { ttlMaxMs: 30 * 86_400_000 },
  });
  await side.open();
  const longest = { ...callOf(narrow), wantedTtlMs: 30 * 86_400_000 };
  for (let sent = 0; sent < FLOOD; sent += 1_000)
    await Promise.all(Array.from({ length: 1_000 }, () => side.runtime.receiver.start(longest)));
  await until(() => downstream.inside.length === 1);
  await side.runtime.receiver.start({ ...callOf(narrow), principal: BOB });
  const before = downstream.seen.owners.length;
  while (!downstream.seen.owners.includes(BOB.key)) {
    downstream.letOneGo();
    await until(() => downstream.inside.length === 1);
  }
  const ahead = downstream.seen.owners.slice(before).filter((owner) => owner === ALICE.key);
  expect(ahead.length).toBeLessThanOrEqual(1);
}, 60_000);

verifies(
  'G2-142',
  'who may have 32 open is refused the rest, however long the ttl and whichever the generation, and another is not',
  async () => {
    const side = await createReceivingSide({
      run: createDownstream().run,
      open: 32,
      openInAll: 64,
    });
    await side.open();
    const { receiver } = side.runtime;
    const wanted = { ...callOf(readTool), wantedTtlMs: Number.MAX_SAFE_INTEGER };
    const started = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        receiver.start({ ...wanted, origin: index % 2 === 0 ? '2026-07-28' : '2025-11-25' }),
      ),
    );
    expect(kindsOf(started, 'started')).toBe(32);
    expect(kindsOf(started, 'full')).toBe(968);
    expect((await receiver.start({ ...wanted, principal: BOB })).kind).toBe('started');
  },
);

test('what waits ends by the time of the queue, and what hangs by its run limit: not by the same clock [B2]', async () => {
  const clock = createManualClock();
  let hung = 0;
  const never: RunTool = () =>
    new Promise<RunEnd>(() => {
      hung += 1;
    });
  const one: ServedTool = { ...readTool, concurrency: 1, runLimitMs: 120_000 };
  const side = await createReceivingSide({
    run: never,
    clock,
    tools: [one],
    limits: { queueAllowanceMs: 60_000, stopGraceMs: 1_000 },
  });
  await side.open();
  const running = await side.call(callOf(one));
  const waiting = await side.call(callOf(one));
  await until(() => hung === 1);

  clock.advance(61_000);
  await settleDown();
  expect((await side.row(running)).phase).toBe('working');
  clock.advance(60_000);
  clock.advance(2_000);
  const limit = await side.outcome(running);
  expect(limit).toMatchObject({ kind: 'error', error: { data: { reason: 'run_limit' } } });
  expect(await side.outcome(waiting)).toMatchObject({
    kind: 'error',
    error: { data: { reason: 'queue_limit' } },
  });
});

test('the place of a waiter that was given up is free for the next, without a restart [B2]', async () => {
  const downstream = createDownstream();
  const tight: ServedTool = { ...readTool, concurrency: 1, queueMax: 1 };
  const side = await createReceivingSide({ run: downstream.run, tools: [tight] });
  await side.open();
  const { receiver } = side.runtime;
  await side.call(callOf(tight));
  await until(() => downstream.inside.length === 1);
  const waiter = await side.call(callOf(tight));
  expect((await receiver.start(callOf(tight))).kind).toBe('full');
  await receiver.cancel(ALICE, waiter.id, 'cooperative');
  await until(async () => (await side.row(waiter)).phase === 'ended');
  expect((await receiver.start(callOf(tight))).kind).toBe('started');
});
