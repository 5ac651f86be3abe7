import * as fc from 'fast-check';
import { expect } from 'vitest';
import { invariant } from '../../kernel/invariant.ts';
import type { Fence } from '../attempts.ts';
import { answerTo, draftTask, freshAttemptId, LEASE_MS, question, settlement } from './given.ts';
import { currentAttempt, endTask, isExpired, isVisibleToOwner } from './history-model.ts';
import { isVisibleToSystem, learnLate, openKeys, resumeIfQuiet, touch } from './history-model.ts';
import type { ModelTask } from './history-model.ts';
import { ALICE, BOB } from './people.ts';
import type { Scene } from './scene.ts';

/** A history on its way: the store, and what it should hold. */
export interface History {
  readonly scene: Scene;
  readonly tasks: ModelTask[];
}

/** One step of a history as data, so that a failing one can be shrunk and replayed. */
export interface Step {
  readonly what: keyof typeof STEPS;
  /** Chooses a task, a key, a duration. */
  readonly pick: number;
  /** A second choice: stale fences, strangers, reads. */
  readonly odd: boolean;
}

export const steps = (): fc.Arbitrary<Step> =>
  fc.record({
    what: fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])),
    pick: fc.nat({ max: 30 }),
    odd: fc.boolean(),
  });

type TakeStep = (history: History, step: Step) => Promise<void>;

/** Runs on a task that exists; a history without tasks skips the step. */
const onTask =
  (take: (history: History, step: Step, task: ModelTask) => Promise<void>): TakeStep =>
  async (history, step) => {
    const task = history.tasks[step.pick % Math.max(1, history.tasks.length)];
    if (task !== undefined) await take(history, step, task);
  };

const KEYS = ['a', 'b', 'c', 'd'];
const keyOf = ({ pick }: Step): string => KEYS[pick % KEYS.length] ?? 'a';

/** The fence of the task's current attempt; odd steps hold one of an earlier epoch. */
function fenceFor(task: ModelTask, { odd }: Step): Fence {
  const { id, epoch } = currentAttempt(task);
  return { taskId: task.id, attemptId: id, epoch: odd ? epoch - 1 : epoch };
}

const holds = (task: ModelTask, { odd }: Step): boolean =>
  !odd && !task.swept && currentAttempt(task).state === 'running';

const create: TakeStep = async ({ scene, tasks }, { pick, odd }) => {
  const by = pick % 2 === 0 ? ALICE : BOB;
  const ttlMs = pick % 3 === 0 ? 1000 : 1e6;
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

const ask = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = keyOf(step);
  const asked = await scene.store.inputs.ask(fenceFor(task, step), [question(key, 500)]);
  const over = task.swept || task.phase === 'ended' || isExpired(task, now);
  const held = holds(task, step);
  const reason = over ? 'ended' : held ? 'key_reused' : 'fenced';
  if (over || !held || task.keys.has(key)) {
    expect(asked).toEqual({ kind: 'refused', reason });
    return;
  }
  expect(asked.kind).toBe('asked');
  task.keys.set(key, { state: 'pending', expiresAt: now + 500 });
  if (task.phase === 'working') touch(task, now);
  task.phase = 'input_required';
});

const answer = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = keyOf(step);
  const stranger = { owner: task.by.owner, tenant: 'elsewhere' };
  const params = { taskId: task.id, answers: [answerTo(key)] };
  const outcome = await scene.store.inputs.answer(step.odd ? stranger : task.by, params);
  if (step.odd || !isVisibleToOwner(task, now)) {
    expect(outcome).toEqual({ kind: 'missing' });
    return;
  }
  const taken = openKeys(task, now).includes(key);
  const entry = task.keys.get(key);
  if (taken && entry) entry.state = 'answered';
  const resumed = taken && resumeIfQuiet(task, now);
  expect(outcome).toMatchObject({ kind: 'taken', ignored: taken ? [] : [key], resumed });
});

const withdraw = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = keyOf(step);
  const left = await scene.store.inputs.withdraw(task.id, [key], 'upstream_withdrew');
  expect(left !== undefined).toBe(isVisibleToSystem(task, now));
  const entry = task.keys.get(key);
  if (left === undefined || entry?.state !== 'pending') return;
  entry.state = 'withdrawn';
  resumeIfQuiet(task, now);
});

const give = onTask(async ({ scene }, step, task) => {
  const handle = step.odd ? 'given' : 'inline';
  const visible = isVisibleToSystem(task, scene.clock.now());
  const moved = await scene.store.tasks.setHandle(task.id, handle);
  if (visible && task.handle === 'pending') {
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
});

const orphan: TakeStep = async ({ scene, tasks }, { odd }) => {
  const running = tasks.filter((task) => currentAttempt(task).state === 'running');
  const found = await scene.store.attempts.listOrphaned(odd ? 'boot' : 'boot_next', true);
  expect(found).toHaveLength(odd ? 0 : running.length);
  if (!odd) for (const task of running) currentAttempt(task).epoch += 1;
};

const pass: TakeStep = async ({ scene }, { pick, odd }) => {
  scene.clock.advance(odd ? pick : pick * 40);
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
  give,
  requestCancel,
  orphan,
  pass,
  sweep,
  reopen,
} as const satisfies Record<string, TakeStep>;
