import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Task } from '../../protocol/model.ts';
import { isVisibleToOwner, isVisibleToSystem, openKeys } from './history-model.ts';
import type { ModelTask } from './history-model.ts';
import { STEPS, steps } from './history-steps.ts';
import type { History } from './history-steps.ts';
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
      const history = fc.array(steps(), { maxLength: 60, size: 'max' });
      const play = fc.asyncProperty(history, async (taken) => {
        const opened = await open();
        const scene = sceneOf(opened);
        try {
          await playSteps({ scene, tasks: [] }, taken);
        } finally {
          await opened.dispose();
        }
      });
      await fc.assert(play, { seed, numRuns: runs });
    });
  });
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

async function playSteps(
  history: History,
  taken: readonly Parameters<typeof STEPS.create>[1][],
): Promise<void> {
  for (const step of taken) {
    await STEPS[step.what](history, step);
    for (const task of history.tasks) await expectSame(history.scene, task);
  }
  await expectSameLists(history);
  await expectWhole(history.scene);
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
  expect(pending.map(({ key }) => key)).toEqual(visible[0] === true ? openKeys(task, now) : []);
  await expectSameAttempts({ store, task });
}

async function expectSameAttempts({ store, task }: { store: Scene['store']; task: ModelTask }) {
  const attempts = await store.attempts.listOf(task.id);
  const seen = attempts.map(({ id, number, epoch, state, dispatchedAt }) => {
    return { id, number, epoch, state, dispatched: dispatchedAt !== undefined };
  });
  expect(seen).toEqual(task.swept ? [] : task.attempts);
  const operations = await store.operations.list(task.by, { limit: 200 });
  const operation = operations.find(({ taskId }) => taskId === task.id);
  expect(operation?.state).toBe(task.operation);
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

/** The audit trail has no gaps, and the counts agree with what is there. */
async function expectWhole({ store }: Scene): Promise<void> {
  const events = await store.events.list({ limit: 1000 });
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
