import * as fc from 'fast-check';
import { expect } from 'vitest';
import { invariant } from '../../kernel/invariant.ts';
import { draftTask, freshAttemptId, LEASE_MS, settlement } from './given.ts';
import { answer, ask, confirm, openPage, withdraw } from './history-asking.ts';
import { consume, effect, journal, receipt } from './history-journal.ts';
import { currentAttempt, endTask, isExpired, isVisibleToOwner } from './history-model.ts';
import { isVisibleToSystem, learnLate, touch, wakeAttempt } from './history-model.ts';
import { park, wakeDue } from './history-parking.ts';
import { fenceFor, holds, onTask } from './history-taking.ts';
import type { Choice, TakeStep } from './history-taking.ts';
import { ALICE, BOB } from './people.ts';

/** One step of a history as data, so that a failing one can be shrunk and replayed. */
export interface Step extends Choice {
  readonly what: keyof typeof STEPS;
}

/** What gets far into a history comes more often than what cuts it short. */
const WEIGHTS: Readonly<Partial<Record<keyof typeof STEPS, number>>> = {
  create: 2,
  claim: 8,
  ask: 5,
  answer: 6,
  openPage: 3,
  confirm: 4,
  park: 4,
  wakeDue: 3,
  pass: 3,
  sweep: 3,
  journal: 3,
  effect: 4,
  receipt: 3,
};

/** Ways that calls often go; in between and after them anything may happen. */
const WAYS: readonly (readonly (keyof typeof STEPS)[])[] = [
  ['claim', 'ask', 'park'],
  ['claim', 'ask', 'ask', 'park', 'answer'],
  ['claim', 'ask', 'openPage', 'park', 'confirm'],
  ['claim', 'park', 'pass', 'wakeDue'],
  ['claim', 'effect', 'receipt'],
  ['claim', 'effect', 'cancelNow', 'receipt'],
  ['claim', 'ask', 'park', 'withdraw'],
  ['claim', 'ask', 'park', 'requestCancel'],
  ['claim', 'ask', 'answer', 'consume'],
  ['create', 'cancelNow', 'pass', 'pass', 'sweep'],
];

export function histories(): fc.Arbitrary<readonly Step[]> {
  const names = Object.keys(STEPS) as (keyof typeof STEPS)[];
  const weighted = names.flatMap((name) => Array<typeof name>(WEIGHTS[name] ?? 1).fill(name));
  const choice = fc.record({
    task: fc.nat({ max: 11 }),
    pick: fc.nat({ max: 30 }),
    odd: fc.nat({ max: 4 }).map((one) => one === 4),
  });
  const single = fc
    .tuple(fc.constantFrom(...weighted), choice)
    .map(([what, chosen]): readonly Step[] => [{ ...chosen, what }]);
  const way = fc
    .tuple(fc.constantFrom(...WAYS), choice)
    .map(([whats, chosen]) => whats.map((what): Step => ({ ...chosen, what, odd: false })));
  const stretch = fc.noBias(
    fc.oneof({ arbitrary: single, weight: 5 }, { arbitrary: way, weight: 1 }),
  );
  const first: Step = { what: 'create', task: 0, pick: 1, odd: false };
  return fc
    .array(stretch, { minLength: 30, maxLength: 60, size: 'max' })
    .map((stretches) => [first, ...stretches.flat()]);
}

const create: TakeStep = async ({ scene, tasks }, { pick, odd }) => {
  const by = pick % 2 === 0 ? ALICE : BOB;
  const ttlMs = pick % 3 === 0 ? 300 : 1e6;
  const draft = draftTask({ by, ttlMs, effect: odd ? 'read' : 'consequential' });
  const now = scene.clock.now();
  expect(await scene.store.tasks.create(draft)).toMatchObject({ kind: 'created' });
  tasks.push({
    id: draft.task.id,
    by,
    createdAt: now,
    updatedAt: now,
    ttlMs,
    phase: 'working',
    handle: 'pending',
    cancelRequested: false,
    revision: 1,
    swept: false,
    keys: new Map(),
    journal: [],
    effects: new Map(),
    wakes: 0,
    attempts: [{ id: draft.attemptId, number: 1, epoch: 0, state: 'queued', dispatched: false }],
    ...(odd ? {} : { operation: 'intended' }),
  });
};

const claim: TakeStep = async ({ scene, tasks }, { pick }) => {
  const limit = 1 + (pick % 3);
  const now = scene.clock.now();
  const queued = tasks.filter(
    (task) => currentAttempt(task).state === 'queued' && isVisibleToOwner(task, now),
  );
  const params = { owner: 'boot', leaseMs: LEASE_MS, limit, runningPerTool: {} };
  const claimed = await scene.store.attempts.claim(params);
  expect(claimed).toHaveLength(Math.min(limit, queued.length));
  for (const { attempt } of claimed) {
    const task = queued.find(({ id }) => id === attempt.taskId);
    invariant(task !== undefined, 'only what was queued is claimed');
    const expected = currentAttempt(task);
    expected.state = 'running';
    expected.epoch += 1;
  }
};

const dispatch = onTask(async ({ scene }, step, task) => {
  const attempt = currentAttempt(task);
  const sendable = attempt.dispatched || (task.operation ?? 'intended') === 'intended';
  const allowed = holds(task, step) && sendable;
  expect(await scene.store.attempts.markDispatched(fenceFor(task, step))).toBe(allowed);
  if (!allowed) return;
  attempt.dispatched = true;
  if (task.operation === 'intended') task.operation = 'dispatched';
});

const message = onTask(async ({ scene }, step, task) => {
  const text = `message ${step.pick}`;
  const told = await scene.store.tasks.setMessage(fenceFor(task, step), text);
  expect(told?.message).toBe(holds(task, step) ? text : undefined);
  if (told === undefined) return;
  task.message = text;
  touch(task, scene.clock.now());
});

const requeue = onTask(async ({ scene }, step, task) => {
  const next = freshAttemptId();
  const allowed = holds(task, step);
  expect(await scene.store.attempts.requeue(fenceFor(task, step), next, 'lost')).toBe(allowed);
  if (!allowed) return;
  const { number, epoch } = currentAttempt(task);
  currentAttempt(task).state = 'ended';
  task.attempts.push({ id: next, number: number + 1, epoch, state: 'queued', dispatched: false });
});

const settle = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const params = settlement(task.id, { fence: fenceFor(task, step) });
  const missing = !isVisibleToSystem(task, now);
  const wins = !missing && task.phase !== 'ended' && holds(task, step);
  const late = missing ? 'missing' : 'late';
  const { kind } = await scene.store.tasks.settle(params);
  expect(kind).toBe(wins ? 'settled' : late);
  if (wins) endTask(task, now, { ending: 'result', answered: true });
  else learnLate(task, true);
});

const cancelNow = onTask(async ({ scene }, _step, task) => {
  const now = scene.clock.now();
  const cancelled = { outcome: { kind: 'cancelled' }, callEnd: 'cancelled' } as const;
  const { kind } = await scene.store.tasks.settle(settlement(task.id, cancelled));
  const late = isVisibleToSystem(task, now) ? 'late' : 'missing';
  expect(kind).toBe(isVisibleToSystem(task, now) && task.phase !== 'ended' ? 'settled' : late);
  if (kind === 'settled') endTask(task, now, { ending: 'cancelled', answered: false });
});

const give = onTask(async ({ scene }, step, task) => {
  const handle = step.odd ? 'given' : 'inline';
  const visible = isVisibleToSystem(task, scene.clock.now());
  const moved = await scene.store.tasks.setHandle(task.id, handle);
  const moves = task.handle === 'pending' || (task.handle === 'inline' && handle === 'given');
  if (visible && moves) {
    task.handle = handle;
    task.revision += 1;
  }
  expect(moved?.handle).toBe(visible ? task.handle : undefined);
});

const requestCancel = onTask(async ({ scene }, step, task) => {
  const stranger = { owner: 'prn_nobody', tenant: task.by.tenant };
  const visible = !step.odd && isVisibleToOwner(task, scene.clock.now());
  const marked = await scene.store.tasks.requestCancel(step.odd ? stranger : task.by, task.id);
  expect(marked !== undefined).toBe(visible);
  if (!visible || task.phase === 'ended' || task.cancelRequested) return;
  task.cancelRequested = true;
  task.revision += 1;
  wakeAttempt(task);
});

const orphan: TakeStep = async ({ scene, tasks }, { odd }) => {
  const running = tasks.filter((task) => currentAttempt(task).state === 'running');
  const found = await scene.store.attempts.listOrphaned(odd ? 'boot' : 'boot_next', true);
  expect(found).toHaveLength(odd ? 0 : running.length);
  if (!odd) for (const task of running) currentAttempt(task).epoch += 1;
};

const pass: TakeStep = async ({ scene }, { pick, odd }) => {
  scene.clock.advance(odd ? pick * 40 : pick * 5);
};

const sweep: TakeStep = async ({ scene, tasks }) => {
  const now = scene.clock.now();
  const due = tasks.filter((task) => !task.swept && task.phase === 'ended' && isExpired(task, now));
  expect(await scene.store.tasks.sweepExpired(100)).toBe(due.length);
  for (const task of due) task.swept = true;
};

const reopen: TakeStep = async ({ scene }) => scene.reopen();

export const STEPS = {
  create,
  claim,
  dispatch,
  message,
  requeue,
  settle,
  cancelNow,
  ask,
  answer,
  withdraw,
  openPage,
  confirm,
  park,
  wakeDue,
  journal,
  effect,
  receipt,
  consume,
  give,
  requestCancel,
  orphan,
  pass,
  sweep,
  reopen,
} as const satisfies Record<string, TakeStep>;
