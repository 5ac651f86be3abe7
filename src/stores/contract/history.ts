import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Task } from '../../protocol/model.ts';
import type { Attempt } from '../attempts.ts';
import { currentAttempt, isVisibleToOwner, isVisibleToSystem } from './history-model.ts';
import { pendingKeys } from './history-model.ts';
import type { ModelTask } from './history-model.ts';
import { STEPS, histories } from './history-steps.ts';
import type { Step } from './history-steps.ts';
import type { History } from './history-taking.ts';
import { ALICE, BOB } from './people.ts';
import type { OpenScene, Scene } from './scene.ts';

export interface HistoryOptions {
  /** How many histories are played. */
  readonly runs: number;
  /** The same seed plays the same histories; a failure prints it with the shortest history that fails. */
  readonly seed: number;
}

/** Plays random histories against a store and compares it with a model after each step. */
export function describeHistories(open: OpenScene, { runs, seed }: HistoryOptions): void {
  describe('random histories', () => {
    test(`the store holds what the model holds, ${runs} times from seed ${seed}`, async () => {
      const seen = new Set<string>();
      const play = fc.asyncProperty(histories(), async (taken) => {
        const opened = await open();
        const scene = sceneOf(opened);
        try {
          await playSteps({ scene, tasks: [] }, taken);
          for (const what of await happenings(scene)) seen.add(what);
        } finally {
          await opened.dispose();
        }
      });
      await fc.assert(play, { seed, numRuns: runs });
      if (runs >= ENOUGH_RUNS) expect([...seen]).toEqual(expect.arrayContaining([...REACHED]));
    });
  });
}

/** So many histories get everywhere, whatever the seed. */
const ENOUGH_RUNS = 60;

/** Where random histories have to get to, so that they show anything. */
const REACHED = [
  'task.parked answers',
  'task.parked time',
  'task.parked answers_or_time',
  'task.woken answers',
  'task.woken time',
  'task.woken cancel',
  'task.input_page_opened',
  'task.input_answered',
  'task.input_withdrawn',
  'task.requeued',
  'task.dispatched',
  'task.expired',
  'operation.dispatched',
  'operation.receipt',
  'operation.moved dispatched->acknowledged',
  'operation.moved dispatched->unknown',
  'operation.moved unknown->acknowledged',
  'operation.moved intended->abandoned',
];

const TOLD_APART = ['task.parked', 'task.woken', 'operation.moved'];

async function happenings({ store }: Scene): Promise<readonly string[]> {
  const events = await store.events.list({ limit: 1000 });
  return events.map(({ type, reason }) => (TOLD_APART.includes(type) ? `${type} ${reason}` : type));
}

function sceneOf(opened: Awaited<ReturnType<OpenScene>>): Scene {
  let { store } = opened;
  return {
    clock: opened.clock,
    get store() {
      return store;
    },
    reopen: async () => {
      store = (await opened.reopen?.()) ?? store;
    },
  };
}

async function playSteps(history: History, taken: readonly Step[]): Promise<void> {
  for (const step of taken) {
    await STEPS[step.what](history, step);
    for (const task of history.tasks) await expectSame(history.scene, task);
  }
  await expectSameLists(history);
  await expectWhole(history);
}

const summaryOf = (task: Task) => ({
  id: task.id,
  phase: task.phase,
  ending: task.ending,
  message: task.message,
  updatedAt: task.updatedAt,
  handle: task.handle,
  cancelRequested: task.cancelRequestedAt !== undefined,
  revision: task.revision,
});

const expectedSummary = (task: ModelTask) => ({
  id: task.id,
  phase: task.phase,
  ending: task.ending,
  message: task.message,
  updatedAt: task.updatedAt,
  handle: task.handle,
  cancelRequested: task.cancelRequested,
  revision: task.revision,
});

async function expectSame({ store, clock }: Scene, task: ModelTask): Promise<void> {
  const now = clock.now();
  const seen = [await store.tasks.get(task.by, task.id), await store.tasks.get('system', task.id)];
  const visible = [isVisibleToOwner(task, now), isVisibleToSystem(task, now)];
  const expected = expectedSummary(task);
  expect(seen.map((one) => one && summaryOf(one))).toEqual(
    visible.map((one) => (one ? expected : undefined)),
  );
  const outcome = await store.tasks.outcome(task.by, task.id);
  expect(outcome !== undefined).toBe(visible[0] === true && task.phase === 'ended');
  const pending = await store.inputs.listPending(task.by, task.id);
  expect(pending.map(({ key }) => key)).toEqual(visible[0] === true ? pendingKeys(task, now) : []);
  await expectSameAttempts({ store, task });
}

async function expectSameAttempts({ store, task }: { store: Scene['store']; task: ModelTask }) {
  const attempts = await store.attempts.listOf(task.id);
  const seen = attempts.map(({ id, number, epoch, state, dispatchedAt }) => {
    return { id, number, epoch, state, dispatched: dispatchedAt !== undefined };
  });
  const expected = task.attempts.map(({ wakeUp: _wakeUp, ...attempt }) => attempt);
  expect(seen).toEqual(task.swept ? [] : expected);
  expectOneAtMost(task, attempts);
  expect(await store.journal.read(task.id)).toEqual(task.swept ? [] : task.journal);
  await expectSameOperations({ store, task });
}

/** One attempt at most is not over, it is the last one, and none of a task that is over. */
function expectOneAtMost(task: ModelTask, attempts: readonly Attempt[]): void {
  const unended = attempts.filter(({ state }) => state !== 'ended');
  const isOver = task.swept || task.phase === 'ended';
  expect(unended.map(({ id }) => id)).toEqual(isOver ? [] : [currentAttempt(task).id]);
  const reasons = attempts.map(
    ({ state, endReason }) => (state === 'ended') === (endReason !== undefined),
  );
  expect(reasons).not.toContain(false);
}

async function expectSameOperations({ store, task }: { store: Scene['store']; task: ModelTask }) {
  const listed = await store.operations.list(task.by, { limit: 200 });
  const own = listed.filter(({ taskId }) => taskId === task.id);
  const call = own.find(({ parentId }) => parentId === undefined);
  expect(call?.state).toBe(task.operation);
  const effects = own.filter((operation) => operation !== call);
  expect(new Map(effects.map(({ name, state }) => [name, state]))).toEqual(
    new Map([...task.effects].map(([name, { state }]) => [name, state])),
  );
  for (const { parentId } of effects) expect(parentId).toBe(call?.id);
}

async function expectSameLists({ scene, tasks }: History): Promise<void> {
  const now = scene.clock.now();
  for (const by of [ALICE, BOB]) {
    const expected = tasks
      .filter((task) => task.by === by && isVisibleToOwner(task, now))
      .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
    const listed = await scene.store.tasks.list(by, { limit: 200, withHandle: false });
    expect(listed.map(({ id }) => id)).toEqual(expected);
  }
}

/** The audit trail has no gaps, tells of each resume once, and the counts agree with what is there. */
async function expectWhole({ scene: { store }, tasks }: History): Promise<void> {
  const events = await store.events.list({ limit: 1000 });
  const woken = events.filter(({ type }) => type === 'task.woken').map(({ taskId }) => taskId);
  for (const { id, wakes } of tasks) expect(woken.filter((one) => one === id)).toHaveLength(wakes);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const listed = await store.tasks.list('system', { limit: 200, withHandle: false });
  const countOf = (phase: Task['phase']) => listed.filter((task) => task.phase === phase).length;
  expect(await store.tasks.counts()).toEqual({
    working: countOf('working'),
    inputRequired: countOf('input_required'),
    ended: countOf('ended'),
  });
  expect((await store.check()).ok).toBe(true);
}
