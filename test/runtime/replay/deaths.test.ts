import { expect, onTestFinished, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../../src/kernel/manual-clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import type { Task } from '../../../src/protocol/model.ts';
import { createSqliteStore } from '../../../src/stores/sqlite/store.ts';
import type { Store } from '../../../src/stores/store.ts';
import { ALICE, callOf, payTool, turn } from '../receiving-side.ts';
import { createMortalStore, type StoreDeath } from './mortal-store.ts';
import { createTestProcess, type TestProcess } from './process.ts';
import { EFFECTS, TEN_STEPS, tenSteps } from './ten-steps.ts';

const SEED = Number(process.env['LONGCALL_TEST_SEED'] ?? 20_261_201);
const RUNS = process.env['LONGCALL_TEST_LONG'] === undefined ? 1_000 : 10_000;
const TIMEOUT_MS = 300_000;
/** More writes than one run has: some deaths never come. */
const WRITES_MAX = 40;
const TOOL = { ...payTool, name: 'ten', journalled: true };

function createDice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Execution {
  readonly name: string;
  readonly interrupted: boolean;
  /** Whether its end was durable already when it was begun. */
  readonly wasEnded: boolean;
}

interface Story {
  readonly task: Task;
  readonly executions: readonly Execution[];
  readonly lives: number;
}

interface World {
  readonly store: Store;
  /** The store's time; each process has a clock of its own beside it, whose timers die with it. */
  readonly time: ManualClock;
  readonly dice: (below: number) => number;
}

/** One call, as many deaths as the dice say, and a person who answers what is asked. */
async function play({ store: real, time, dice }: World): Promise<Story> {
  const executions: Execution[] = [];
  let taskId = '';
  let lives = 0;
  const wakeAt = time.now() + 5_000;

  const isEnded = async (name: string): Promise<boolean> => {
    const facts = await real.journal.read(taskId);
    const begun = facts.find((fact) => fact.type === 'begun' && fact.name === name);
    return facts.some((fact) => fact.type === 'ended' && fact.of === begun?.position);
  };
  const begin = async (name: string, interrupted: boolean): Promise<void> => {
    executions.push({ name, interrupted, wasEnded: await isEnded(name) });
    for (let turns = dice(4); turns > 0; turns -= 1) await turn();
  };
  const handler = (job: Parameters<typeof tenSteps>[0]) =>
    tenSteps(job, { begin, wakeAt: () => wakeAt });
  const answerAll = async ({ runtime }: TestProcess): Promise<void> => {
    const pending = await real.inputs.listPending('system', taskId);
    for (const { key } of pending) {
      const answer = {
        kind: 'result',
        result: { action: 'accept', content: { ok: true } },
      } as const;
      void runtime.receiver.answer(ALICE, taskId, { [key]: answer });
    }
  };

  for (const deathsLeft = { count: dice(4) }; ; deathsLeft.count -= 1) {
    lives += 1;
    const death: StoreDeath = { atWrite: dice(WRITES_MAX), durable: dice(2) === 0 };
    const clock = createManualClock(time.now());
    const mortal = createMortalStore(real, deathsLeft.count > 0 ? death : undefined);
    const process = createTestProcess({ store: mortal.store, clock, tool: TOOL, handler });
    void process.open();
    if (taskId === '') {
      const started = await process.runtime.receiver.start(callOf(TOOL));
      if (started.kind !== 'started') throw new Error(`not started: ${started.kind}`);
      taskId = started.task.id;
      await process.runtime.receiver.handleGiven(taskId);
    }
    for (;;) {
      await turn();
      if (mortal.isDead()) break;
      const task = await real.tasks.get('system', taskId);
      if (task?.phase === 'ended') {
        mortal.kill(); // the next story has a process of its own
        return { task, executions, lives };
      }
      if (dice(3) === 0) await answerAll(process);
      const ms = dice(300);
      time.advance(ms);
      clock.advance(ms);
    }
    for (let turns = 0; turns < 10; turns += 1) await turn(); // what was under way there runs into the void
  }
}

/** What has to be true of every story, whatever died where. */
async function judge(real: Store, { task, executions }: Story): Promise<'done' | 'unknown'> {
  const facts = await real.journal.read(task.id);
  const outcome = await real.tasks.outcome('system', task.id);
  const operations = await real.operations.list('system', { limit: 10 });
  const stateOf = (name: string) =>
    operations.find((each) => each.taskId === task.id && each.name === name)?.state;

  expect(executions.filter(({ wasEnded }) => wasEnded)).toEqual([]);
  for (const name of TEN_STEPS) {
    const [first, ...again] = executions.filter((each) => each.name === name);
    if (EFFECTS.includes(name)) expect(again).toEqual([]);
    for (const { interrupted } of again) expect(interrupted).toBe(true);
    // A first execution may find that an earlier life had begun it, and had died before the work.
    if (first?.interrupted) expect(EFFECTS).not.toContain(name);
    const begun = facts.filter((fact) => fact.type === 'begun' && fact.name === name);
    expect(begun.length).toBeLessThanOrEqual(1);
  }

  if (outcome?.kind === 'result') {
    expect(facts.filter(({ type }) => type === 'ended')).toHaveLength(TEN_STEPS.length);
    expect(EFFECTS.map(stateOf)).toEqual(['acknowledged', 'acknowledged']);
    expect((await real.operations.get('system', task.operationId ?? ''))?.state).toBe(
      'acknowledged',
    );
    return 'done';
  }
  const ended = new Set(facts.flatMap((fact) => (fact.type === 'ended' ? fact.of : [])));
  const [cutOff, ...others] = facts.flatMap((fact) =>
    fact.type === 'begun' && !ended.has(fact.position) && fact.kind === 'effect' ? fact : [],
  );
  expect(others).toEqual([]);
  expect(outcome).toMatchObject({
    kind: 'error',
    error: {
      data: { reason: 'outcome_unknown', operationId: cutOff?.operationId, effect: cutOff?.name },
    },
  });
  expect(facts.at(-1)).toEqual(cutOff);
  expect(stateOf(cutOff?.name ?? '')).toBe('unknown');
  if (cutOff?.name === 'pay') expect(stateOf('reserve')).toBe('acknowledged');
  return 'unknown';
}

test(
  `ten steps, killed anywhere: each finished one ran once, the dispatched one is told apart from the finished, ${RUNS} times from seed ${SEED}`,
  async () => {
    const time = createManualClock();
    const real = await createSqliteStore({ path: ':memory:', clock: time, random: systemRandom });
    onTestFinished(() => real.close());
    const ends = { done: 0, unknown: 0 };
    let deaths = 0;
    for (let run = 0; run < RUNS; run += 1) {
      const seed = SEED + run;
      const story = await play({ store: real, time, dice: createDice(seed) });
      try {
        ends[await judge(real, story)] += 1;
      } catch (thrown) {
        throw new Error(`LONGCALL_TEST_SEED=${seed} tells it again`, { cause: thrown });
      }
      deaths += story.lives - 1;
    }
    expect(deaths).toBeGreaterThan(RUNS);
    expect(ends.done).toBeGreaterThan(RUNS / 4);
    expect(ends.unknown).toBeGreaterThan(RUNS / 50);
  },
  TIMEOUT_MS,
);
