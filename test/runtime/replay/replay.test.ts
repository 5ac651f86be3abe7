import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createManualClock } from '../../../src/kernel/manual-clock.ts';
import { createConductor, type Ending } from '../../../src/runtime/steps/conductor.ts';
import { createSleepDeed } from '../../../src/runtime/steps/sleep-deed.ts';
import { createStepDeed } from '../../../src/runtime/steps/step-deed.ts';
import { createOutcome } from '../../../src/runtime/steps/work.ts';
import type { Task } from '../../../src/protocol/model.ts';
import { turn } from '../receiving-side.ts';
import { createMemoryJournal, noRecords, type Death, type Records } from './memory-journal.ts';
import { anyProgram, play, type Program } from './programs.ts';

const LONG_LIVED = { createdAt: 0, ttlMs: Number.MAX_SAFE_INTEGER } as Task;
const RUNS = process.env['LONGCALL_TEST_LONG'] === undefined ? 1_000 : 20_000;

interface Attempt {
  readonly ending: Ending | 'died';
  /** What the handler saw, in its order. */
  readonly trace: readonly string[];
}

/** Numbers from a seed, as many as are asked for. */
function createDice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface World {
  readonly program: Program;
  readonly records: Records;
  readonly clock: ReturnType<typeof createManualClock>;
  readonly dice: (below: number) => number;
  /** Works of steps that came to their end, by name: how often. */
  readonly done: Map<string, number>;
}

/** One attempt: works end one after the other, in an order that the dice decide. */
async function attempt(world: World, death: Death | undefined): Promise<Attempt> {
  const { program, records, clock, dice, done } = world;
  const trace: string[] = [];
  const works: (() => void)[] = [];
  const died = createDeferred<'died'>();
  const signal = new AbortController().signal;
  const journal = createMemoryJournal(records, {
    clock,
    death,
    onDeath: () => died.resolve('died'),
  });
  const onLateFailure = (): void => undefined;
  const facts = [...records.facts];
  const conductor = createConductor({ facts, journal, clock, signal, onLateFailure });

  const step = (name: string, fails: boolean): Promise<unknown> => {
    const outcome = createOutcome();
    const work = () =>
      new Promise((resolve, reject) => {
        works.push(() => {
          done.set(name, (done.get(name) ?? 0) + 1);
          if (fails) reject(new Error(`no ${name}`));
          else resolve(name);
        });
      });
    conductor.take(createStepDeed({ name, signal, work, outcome }));
    return outcome.promise;
  };
  const sleep = (name: string, ms: number): Promise<unknown> => {
    const outcome = createOutcome();
    const at = clock.now() + ms;
    conductor.take(createSleepDeed({ name, at, task: LONG_LIVED, journal, outcome }));
    return outcome.promise;
  };
  let over = false;
  const run = conductor
    .run(() => play(program, { step, sleep, see: (what) => trace.push(what) }))
    .finally(() => (over = true));
  const ending = Promise.race([run, died.promise]).finally(() => (over = true));
  while (!over) {
    for (let turns = dice(4); turns >= 0; turns -= 1) await turn();
    works.splice(dice(works.length), 1)[0]?.();
    if (works.length === 0) clock.advance(dice(50));
  }
  return { ending: await ending, trace };
}

/** Attempts until the handler has come to its end. */
async function playThrough(world: World, deaths: readonly Death[]): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = [];
  const left = [...deaths];
  for (;;) {
    const one = await attempt(world, left.shift());
    attempts.push(one);
    if (one.ending !== 'died' && one.ending.kind !== 'parked') return attempts;
    const wakeAt = world.records.parked?.at ?? world.clock.now();
    world.clock.advance(Math.max(0, wakeAt - world.clock.now()));
  }
}

const anyDeath: fc.Arbitrary<Death> = fc.record({
  atWrite: fc.nat(12),
  durable: fc.boolean(),
});

describe('the replay of a handler', () => {
  it('shows it the same things in the same order in each attempt, whatever waits for whatever, and wherever it dies', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyProgram,
        fc.array(anyDeath, { maxLength: 6 }),
        fc.nat(),
        async (program, deaths, seed) => {
          const clock = createManualClock(0);
          const done = new Map<string, number>();
          const records = noRecords();
          const dice = createDice(seed);
          const attempts = await playThrough({ program, records, clock, dice, done }, deaths);

          const last = attempts.at(-1);
          for (const { trace } of attempts)
            expect(last?.trace.slice(0, trace.length)).toEqual(trace);
          expect(last?.ending).toMatchObject({
            kind: expect.stringMatching(/^(returned|threw)$/) as string,
          });
          const died = attempts.filter(({ ending }) => ending === 'died').length;
          for (const times of done.values()) expect(times).toBeLessThanOrEqual(1 + died);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('stops where a handler has changed, and does nothing of what is new before that is known', async () => {
    let stopped = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(anyProgram, anyProgram),
        anyDeath,
        fc.nat(),
        async ([program, changed], death, seed) => {
          const clock = createManualClock(0);
          const records = noRecords();
          const dice = createDice(seed);
          const world = { records, clock, dice, done: new Map<string, number>() };
          await attempt({ ...world, program }, death);
          const factsBefore = records.facts.length;
          const done = new Map<string, number>();
          const { ending } = await attempt({ ...world, program: changed, done }, undefined);
          if (ending === 'died' || ending.kind !== 'mismatch') return;
          stopped += 1;
          expect(done.size).toBe(0);
          expect(records.facts).toHaveLength(factsBefore);
          expect(ending.mismatch.position).toBeLessThan(factsBefore);
        },
      ),
      { numRuns: RUNS },
    );
    expect(stopped).toBeGreaterThan(RUNS / 10);
  });

  it('does nothing again whose end was durable', async () => {
    await fc.assert(
      fc.asyncProperty(anyProgram, fc.nat(), async (program, seed) => {
        const clock = createManualClock(0);
        const done = new Map<string, number>();
        const records = noRecords();
        const dice = createDice(seed);
        await playThrough({ program, records, clock, dice, done }, []);
        const before = new Map(done);
        const first = await attempt({ program, records, clock, dice, done }, undefined);
        expect(first.ending).not.toBe('died');
        const ended = new Set(
          records.facts.flatMap((fact) => (fact.type === 'ended' ? fact.of : [])),
        );
        const finished = records.facts.flatMap((fact) =>
          fact.type === 'begun' && ended.has(fact.position) ? fact.name : [],
        );
        for (const name of finished) expect(done.get(name)).toBe(before.get(name));
      }),
      { numRuns: RUNS },
    );
  });
});
