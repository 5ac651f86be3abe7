import { describe, expect } from 'vitest';
import { createDeferred, type Deferred } from '../../src/kernel/deferred.ts';
import type { Task } from '../../src/protocol/model.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  answered,
  createReceivingSide,
  payTool,
  toldToStop,
  turn,
  until,
  stopped,
  type ReceivingSide,
} from './receiving-side.ts';

const RACES = 1_000;
/** So many at a time; every race has its own shift between the two rivals. */
const AT_ONCE = 50;

const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await turn();
};

interface Seen {
  /** Every ended state that anybody was told of, by task. */
  readonly ends: ReadonlyMap<string, ReadonlySet<string>>;
  /** What must never be told. Nobody hears what a listener throws, so it is kept for later. */
  readonly wrong: readonly string[];
}

function watchEnds(side: ReceivingSide): Seen {
  const ends = new Map<string, Set<string>>();
  const revisions = new Map<string, number>();
  const wrong: string[] = [];
  side.runtime.feed.watchAll((event) => {
    if (event.kind !== 'changed' && event.kind !== 'asked') return;
    const { id, ending, phase, revision } = event.task;
    if (phase === 'ended') ends.set(id, (ends.get(id) ?? new Set()).add(`${ending} ${revision}`));
    else if (ends.has(id)) wrong.push(`${id} is open again`);
    if (revision <= (revisions.get(id) ?? 0)) wrong.push(`${id} went back to revision ${revision}`);
    revisions.set(id, revision);
  });
  return { ends, wrong };
}

async function inPortions(race: (index: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < RACES; start += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => race(start + at)));
}

describe('completion against cancel', () => {
  verifies(
    ['G1-22', 'G1-69', 'G1-74', 'G2-23', 'G2-93', 'T9'],
    '1,000 times: one end, the same for every reader, told once, and everybody who waits wakes',
    async () => {
      const finish = new Map<string, Deferred<void>>();
      const finishOf = (id: string) => {
        const known = finish.get(id) ?? createDeferred<void>();
        finish.set(id, known);
        return known;
      };
      const side = await createReceivingSide({
        slots: AT_ONCE,
        tools: [{ ...payTool, concurrency: AT_ONCE }],
        run: async (job) => {
          await job.dispatched();
          await finishOf(job.task.id).promise;
          return answered('done');
        },
      });
      const { ends, wrong } = watchEnds(side);
      await side.open();
      const seen = { completed: 0, cancelled: 0 };

      await inPortions(async (index) => {
        const task = await side.call({ tool: payTool });
        await until(async () => (await side.operationState(task)) === 'dispatched');
        const { receiver } = side.runtime;
        const waits = [1, 2].map(() =>
          receiver.wait(ALICE, task.id, { forMs: 1e9, untilAsked: false }),
        );
        const read = async () => (
          await turns(index % 7),
          await receiver.view(ALICE, task.id, true)
        );
        const [cancelled, , ...views] = await Promise.all([
          turns(index % 3).then(() => receiver.cancel(ALICE, task.id, 'at-once')),
          turns(index % 4).then(() => finishOf(task.id).resolve()),
          read(),
          read(),
        ]);
        expect(await Promise.all(waits)).toEqual(['ended', 'ended']);

        const last = await receiver.view(ALICE, task.id, true);
        const kind = last?.outcome?.kind;
        expect(kind === 'result' || kind === 'cancelled').toBe(true);
        seen[kind === 'result' ? 'completed' : 'cancelled'] += 1;
        expect(cancelled.kind).toBe(kind === 'result' ? 'already_ended' : 'cancelled');
        for (const view of views)
          if (view?.task.phase === 'ended') expect(view.task).toEqual(last?.task);
        expect(ends.get(task.id)?.size).toBe(1);
        // Nothing is lost: the answer of the upstream is in the ledger, whoever won.
        await until(async () => (await side.operationState(task)) === 'acknowledged');
      });
      expect(Math.min(seen.completed, seen.cancelled), JSON.stringify(seen)).toBeGreaterThan(0);
      expect(await side.store.tasks.counts()).toMatchObject({
        working: 0,
        inputRequired: 0,
        ended: RACES,
      });
      expect(side.runtime.stats()).toMatchObject({ running: 0, waiters: 0, strays: 0 });
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});

describe('close before the handle against the first byte', () => {
  verifies(
    ['T27', 'G2-91'],
    '1,000 times: ended with nothing sent, or sent and finished into the ledger, and nothing between',
    async () => {
      const sent = new Set<string>();
      const side = await createReceivingSide({
        slots: AT_ONCE,
        tools: [{ ...payTool, concurrency: AT_ONCE }],
        run: async (job) => {
          await turns(sent.size % 3);
          if (!(await job.dispatched())) return stopped;
          sent.add(job.task.id);
          return answered('paid');
        },
      });
      const { ends, wrong } = watchEnds(side);
      await side.open();
      const seen = { abandoned: 0, finished: 0 };

      await inPortions(async (index) => {
        const task = await side.call({ tool: payTool });
        await turns(index % 6);
        await side.runtime.receiver.abandon(task.id, { stopUpstream: false });
        const outcome = await side.outcome(task);
        const state = await side.operationState(task);
        const finished = sent.has(task.id);
        seen[finished ? 'finished' : 'abandoned'] += 1;
        expect([outcome.kind, state]).toEqual(
          finished ? ['result', 'acknowledged'] : ['cancelled', 'abandoned'],
        );
        await until(() => ends.get(task.id)?.size === 1);
      });
      expect(Math.min(seen.abandoned, seen.finished), JSON.stringify(seen)).toBeGreaterThan(0);
      await until(() => side.engine.runningCount() === 0);
      for (const [id, all] of ends) expect(all.size, id).toBe(1);
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});

describe('close before the handle against the handle', () => {
  verifies(
    'T27',
    '1,000 times: a handle that was out first keeps its task, whoever closes',
    async () => {
      const side = await createReceivingSide({
        slots: AT_ONCE,
        tools: [{ ...payTool, concurrency: AT_ONCE }],
        run: async (job) => {
          await toldToStop(job.signal);
          return stopped;
        },
      });
      await side.open();
      const seen = { given: 0, abandoned: 0 };
      await inPortions(async (index) => {
        const task: Task = await side.call({ tool: payTool });
        const { receiver } = side.runtime;
        await Promise.all([
          turns(index % 3).then(() => receiver.handleGiven(task.id)),
          turns((index * 7) % 4).then(() => receiver.abandon(task.id, { stopUpstream: false })),
        ]);
        const { phase, handle, revision } = await side.row(task);
        const given = phase === 'working';
        seen[given ? 'given' : 'abandoned'] += 1;
        if (given) expect([handle, revision]).toEqual(['given', 2]);
        await receiver.cancel(ALICE, task.id, 'at-once');
      });
      expect(Math.min(seen.abandoned, seen.given), JSON.stringify(seen)).toBeGreaterThan(0);
    },
    120_000,
  );
});
