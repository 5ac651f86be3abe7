import { expect } from 'vitest';
import type { NewInput } from '../inputs.ts';
import type { JournalFact } from '../journal.ts';
import { answerTo, pageQuestion, question } from './given.ts';
import { afterClosing, isAsking, isExpired, isVisibleToOwner } from './history-model.ts';
import { isVisibleToSystem, pendingKeys, touch } from './history-model.ts';
import type { ModelKey, ModelTask } from './history-model.ts';
import { askedKeyOf, fenceFor, holds, keyOf, onTask } from './history-taking.ts';
import type { Choice } from './history-taking.ts';

const OPEN_MS = 500;

/** Every other key is one that a page has to confirm. */
const isPage = ({ pick }: Choice): boolean => pick % 2 === 1;

const hashOf = (task: ModelTask, key: string): string => `${task.id} ${key}`;

function questionFor(task: ModelTask, step: Choice): NewInput {
  const key = keyOf(step);
  return isPage(step) ? pageQuestion(key, hashOf(task, key), OPEN_MS) : question(key, OPEN_MS);
}

/** What the journal remembers of the question; one in five disagrees about the position. */
function factsFor(task: ModelTask, { pick }: Choice): readonly JournalFact[] {
  const position = task.journal.length + (pick % 5 === 0 ? 1 : 0);
  return pick % 3 === 0 ? [] : [{ type: 'begun', position, name: `ask ${position}`, kind: 'ask' }];
}

export const ask = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = keyOf(step);
  const facts = factsFor(task, step);
  const { inputs } = scene.store;
  const asked = await inputs.ask(fenceFor(task, step), [questionFor(task, step)], facts);
  const reason = refusalOf(task, step, now);
  expect(asked).toMatchObject(
    reason === undefined ? { kind: 'asked' } : { kind: 'refused', reason },
  );
  if (reason !== undefined) return;
  task.keys.set(key, {
    state: 'pending',
    expiresAt: now + OPEN_MS,
    page: isPage(step),
    kept: false,
  });
  task.journal.push(...facts);
  if (task.phase === 'working') touch(task, now);
  task.phase = 'input_required';
});

function refusalOf(task: ModelTask, step: Choice, now: number): string | undefined {
  if (task.swept || task.phase === 'ended' || isExpired(task, now)) return 'ended';
  if (!holds(task, step)) return 'fenced';
  if (task.keys.has(keyOf(step))) return 'key_reused';
  const [fact] = factsFor(task, step);
  return fact === undefined || fact.position === task.journal.length ? undefined : 'conflict';
}

/** In whose name a step speaks: an odd one is of a stranger. */
const speakerOf = (task: ModelTask, { odd }: Choice) =>
  odd ? { owner: task.by.owner, tenant: 'elsewhere' } : task.by;

export const answer = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = askedKeyOf(task, step);
  const params = { taskId: task.id, answers: [answerTo(key)] };
  const outcome = await scene.store.inputs.answer(speakerOf(task, step), params);
  if (step.odd || !isVisibleToOwner(task, now)) {
    expect(outcome).toEqual({ kind: 'missing' });
    return;
  }
  const taken = pendingKeys(task, now).includes(key);
  if (taken) close(task, now, { key, as: 'answered' });
  const resumed = taken && !isAsking(task);
  expect(outcome).toMatchObject({ kind: 'taken', ignored: taken ? [] : [key], resumed });
});

export const withdraw = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = askedKeyOf(task, step);
  const reason = step.odd ? 'expired' : 'upstream_withdrew';
  const left = await scene.store.inputs.withdraw(task.id, [key], reason);
  expect(left !== undefined).toBe(isVisibleToSystem(task, now));
  if (left !== undefined && isOpen(task.keys.get(key))) {
    close(task, now, { key, as: step.odd ? 'expired' : 'withdrawn' });
  }
});

export const openPage = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = askedKeyOf(task, step);
  const page = { taskId: task.id, key };
  const opened = await scene.store.inputs.openPage(speakerOf(task, step), page);
  const entry = task.keys.get(key);
  const allowed =
    !step.odd && isVisibleToOwner(task, now) && pendingKeys(task, now).includes(key) && entry?.page;
  expect(opened !== undefined).toBe(allowed === true);
  if (opened === undefined || entry === undefined) return;
  entry.state = 'confirming';
  afterClosing(task, now);
});

export const confirm = onTask(async ({ scene }, step, task) => {
  const now = scene.clock.now();
  const key = askedKeyOf(task, step);
  const { inputs } = scene.store;
  const by = speakerOf(task, step);
  const entry = task.keys.get(key);
  const isGood =
    !step.odd &&
    isVisibleToOwner(task, now) &&
    isOpen(entry) &&
    entry.page &&
    entry.expiresAt > now;
  const found = await inputs.findByConfirmation(by, hashOf(task, key));
  expect(found?.key).toBe(isGood ? key : undefined);
  const outcome = await inputs.confirm(by, hashOf(task, key), answerTo(key).answer);
  if (isGood) close(task, now, { key, as: 'answered' });
  expect(outcome).toMatchObject(
    isGood ? { kind: 'taken', ignored: [], resumed: !isAsking(task) } : { kind: 'missing' },
  );
});

const isOpen = (key: ModelKey | undefined): key is ModelKey =>
  key?.state === 'pending' || key?.state === 'confirming';

interface ModelClosing {
  readonly key: string;
  readonly as: 'answered' | 'withdrawn' | 'expired';
}

function close(task: ModelTask, now: number, { key, as }: ModelClosing): void {
  const entry = task.keys.get(key);
  if (entry === undefined) return;
  if (entry.state === 'confirming') {
    // The message that a page is waited for goes with the page.
    delete task.message;
    touch(task, now);
  }
  entry.state = as;
  entry.kept = as === 'answered';
  afterClosing(task, now);
}
