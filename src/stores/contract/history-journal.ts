import { expect } from 'vitest';
import type { JournalFact } from '../journal.ts';
import { begun, effectOf, ended } from './given.ts';
import { currentAttempt } from './history-model.ts';
import type { ModelTask } from './history-model.ts';
import { askedKeyOf, fenceFor, holds, onTask } from './history-taking.ts';
import type { Choice } from './history-taking.ts';

/** The next position; one step in seven takes another one. */
const positionFor = ({ journal }: ModelTask, { pick }: Choice): number =>
  journal.length + (pick % 7 === 0 ? 1 : 0);

const fits = (task: ModelTask, step: Choice): boolean =>
  positionFor(task, step) === task.journal.length;

/** What began first and has not ended. */
function goingOn({ journal }: ModelTask): number | undefined {
  const over = journal.map((fact) => (fact.type === 'ended' ? fact.of : undefined));
  return journal.find(({ type, position }) => type === 'begun' && !over.includes(position))
    ?.position;
}

/** Something begins, or what began first ends. */
export const journal = onTask(async ({ scene }, step, task) => {
  const position = positionFor(task, step);
  const of = goingOn(task);
  const fact: JournalFact =
    step.pick % 2 === 0 && of !== undefined ? ended(position, of, 'done') : begun(position, 'step');
  const conflicts = fits(task, step) ? 'written' : 'conflict';
  const expected = holds(task, step) ? conflicts : 'fenced';
  expect(await scene.store.journal.append(fenceFor(task, step), [fact])).toBe(expected);
  if (expected !== 'written') return;
  task.journal.push(fact);
  if (fact.type !== 'begun' || task.operation === undefined) return;
  if (task.operation === 'intended') task.operation = 'dispatched';
  currentAttempt(task).dispatched = true;
});

const NAMES = ['pay', 'ship'];
const nameOf = ({ pick }: Choice): string => NAMES[pick % NAMES.length] ?? 'pay';

export const effect = onTask(async ({ scene }, step, task) => {
  const record = await scene.store.tasks.get('system', task.id);
  if (record?.operationId === undefined) return;
  const name = nameOf(step);
  const sent = effectOf(record, name);
  const fact = begun(positionFor(task, step), name, sent.id);
  const expected = sendingOf(task, step);
  const { journal: facts } = scene.store;
  expect(await facts.dispatchEffect(fenceFor(task, step), sent, fact)).toBe(expected);
  if (expected !== 'written') return;
  task.operation = 'dispatched';
  currentAttempt(task).dispatched = true;
  task.effects.set(name, { id: sent.id, position: fact.position, state: 'dispatched' });
  task.journal.push(fact);
});

function sendingOf(task: ModelTask, step: Choice) {
  if (!holds(task, step)) return 'fenced';
  if (!fits(task, step) || task.effects.has(nameOf(step))) return 'conflict';
  return task.operation === 'intended' || task.operation === 'dispatched' ? 'written' : 'fenced';
}

export const receipt = onTask(async ({ scene }, step, task) => {
  const known = task.effects.get(nameOf(step));
  const end = step.pick % 3 === 0 ? 'error' : 'answered';
  const of = known?.position ?? 0;
  const fact = ended(positionFor(task, step), of, 'receipt');
  const recorded = await scene.store.journal.recordReceipt({
    operationId: known?.id ?? 'op_none',
    end,
    reason: end,
    receipt: step.pick,
    journal: { fence: fenceFor(task, step), fact },
  });
  if (known && known.state !== 'acknowledged') {
    known.state = end === 'answered' ? 'acknowledged' : 'unknown';
  }
  expect(recorded.operation?.state).toBe(known?.state);
  const began = task.journal[of]?.type === 'begun';
  const over = task.journal.some((one) => one.type === 'ended' && one.of === of);
  const journalled = holds(task, step) && fits(task, step) && began && !over;
  expect(recorded.journalled).toBe(journalled);
  if (journalled) task.journal.push(fact);
});

export const consume = onTask(async ({ scene }, step, task) => {
  const key = askedKeyOf(task, step);
  const fact = begun(positionFor(task, step), `use of ${key}`);
  const entry = task.keys.get(key);
  const isThere = entry?.kept === true && fits(task, step);
  const expected = holds(task, step) ? (isThere ? 'written' : 'conflict') : 'fenced';
  const { journal: facts, inputs } = scene.store;
  expect(await facts.consumeAnswer(fenceFor(task, step), key, fact)).toBe(expected);
  if (expected === 'written') {
    task.journal.push(fact);
    if (entry) entry.kept = false;
  }
  const kept = task.keys.get(key)?.kept === true;
  expect((await inputs.answerOf(task.id, key)) !== undefined).toBe(kept && !task.swept);
});
