import { expect, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKit, tool } from '../faces/face-kit.ts';
import { caller2025, caller2026, errorOf, resultOf } from '../faces/wire.ts';
import {
  ALICE,
  answered,
  callOf,
  createReceivingSide,
  readTool,
  toldToStop,
  until,
} from '../runtime/receiving-side.ts';

/** Counts the reads of task rows that reach the store. */
function counting(seen: { reads: number }) {
  return (store: Store): Store => ({
    ...store,
    tasks: {
      ...store.tasks,
      get(...asked) {
        if (asked[0] !== 'system') seen.reads += 1;
        return store.tasks.get(...asked);
      },
    },
  });
}

test('a poller every 50 ms for ten seconds reads the store four times a second, and sees the end at once [O1]', async () => {
  const seen = { reads: 0 };
  const clock = createManualClock();
  let end: (() => void) | undefined;
  const side = await createReceivingSide({
    clock,
    wrap: counting(seen),
    run: async ({ signal }) => {
      await Promise.race([new Promise<void>((resolve) => (end = resolve)), toldToStop(signal)]);
      return answered('done');
    },
  });
  await side.open();
  const task = await side.call(callOf(readTool));
  const { receiver } = side.runtime;
  await until(() => end !== undefined);
  for (let passedMs = 0; passedMs < 10_000; passedMs += 50) {
    expect((await receiver.view(ALICE, task.id, false))?.task.phase).toBe('working');
    clock.advance(50);
  }
  expect(seen.reads).toBeLessThanOrEqual(10 * 4 + 1);
  end?.();
  await side.outcome(task);
  expect((await receiver.view(ALICE, task.id, false))?.task.phase).toBe('ended');
});

test('beyond the burst a read is answered 429 with Retry-After, in both generations, and nothing is lost [O1]', async () => {
  const kit = await createKit({
    tools: [tool('echo')],
    face: { statusReads: { perSecond: 1, burst: 3 } },
  });
  const { url } = await kit.http();
  const modern = caller2026(url, 'alice');
  const { taskId } = resultOf(await modern.tool('echo', {}));
  const reads = await Promise.all(
    Array.from({ length: 6 }, () => modern.call('tasks/get', { taskId })),
  );
  const refused = reads.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(3);
  expect(reads.filter(({ status }) => status === 200)).toHaveLength(3);
  for (const answer of refused) {
    expect(errorOf(answer)).toMatchObject({ code: 1429, data: { reason: 'status_reads' } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  const session = await caller2025(url, 'alice');
  const old = await session.call('tasks/get', { taskId });
  expect(old.status).toBe(429);
  const other = await caller2026(url, 'bob').call('tasks/get', { taskId });
  expect(other.status).not.toBe(429);
});
