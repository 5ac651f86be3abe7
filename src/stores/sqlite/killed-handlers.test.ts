import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import type { Operation } from '../../ledger/operation.ts';
import type { Task } from '../../protocol/model.ts';
import type { JournalFact } from '../journal.ts';
import type { Store } from '../store.ts';
import { createSqliteStore } from './store.ts';

const built = (path: string) =>
  JSON.stringify(new URL(`../../../dist/${path}`, import.meta.url).href);

/**
 * Plays eight handlers at once, each over and over: ask, park, be answered, send an effect, get its receipt, consume
 * the answer, settle. Says each thing once its promise has resolved, synchronously, so that what was said before the
 * kill has arrived.
 */
const HANDLERS = `
  import { writeSync } from 'node:fs';
  const { createSqliteStore } = await import(${built('stores/sqlite/store.js')});
  const { systemClock } = await import(${built('kernel/clock.js')});
  const { systemRandom } = await import(${built('kernel/random.js')});
  const given = await import(${built('stores/contract/given.js')});
  const { ALICE } = await import(${built('stores/contract/people.js')});
  const path = process.argv[1];
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  const say = (...words) => writeSync(1, words.join(' ') + '\\n');
  const claim = async (tool) => {
    const caps = { runningPerTool: { [tool]: 8 }, runningPerOtherTool: 0 };
    const [{ attempt }] = await store.attempts.claim({ owner: 'b', leaseMs: 1e6, limit: 1, ...caps });
    return { taskId: attempt.taskId, attemptId: attempt.id, epoch: attempt.epoch };
  };
  const handle = async (tool) => {
    for (;;) {
      const task = await given.givenTask(store, { tool, ttlMs: 1e9 });
      const first = await claim(tool);
      const fact = { type: 'begun', position: 0, name: 'who', kind: 'ask' };
      await store.inputs.ask(first, [given.question('one', 1e6)], [fact]);
      say('asked', task.id);
      const nextAttemptId = given.freshAttemptId();
      await store.attempts.park(first, { nextAttemptId, onAnswers: true });
      say('parked', task.id);
      await store.inputs.answer(ALICE, { taskId: task.id, answers: [given.answerTo('one')] });
      say('answered', task.id);
      const second = await claim(tool);
      const effect = given.effectOf(task, 'pay');
      await store.journal.dispatchEffect(second, effect, given.begun(1, 'pay', effect.id));
      say('sent', task.id, effect.id);
      const receipt = { operationId: effect.id, end: 'answered', reason: 'answered', receipt: 'r' };
      const journal = { fence: second, fact: given.ended(2, 1, 'r') };
      await store.journal.recordReceipt({ ...receipt, journal });
      say('acknowledged', task.id, effect.id);
      await store.journal.consumeAnswer(second, 'one', given.ended(3, 0));
      say('consumed', task.id);
      await store.tasks.settle(given.settlement(task.id, { fence: second }));
      say('settled', task.id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => handle('tool ' + index)));`;

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-killed-'));
  path = join(directory, 'longcall.db');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What was said, in words, before the process was killed in the middle of its work. */
async function killedAfter(lines: number): Promise<readonly (readonly string[])[]> {
  const flags = ['--no-warnings', '--input-type=module', '--eval', HANDLERS, path];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    if (said.split('\n').length > lines) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  expect(child.signalCode).toBe('SIGKILL');
  const whole = said.slice(0, said.lastIndexOf('\n'));
  return whole.split('\n').map((line) => line.split(' '));
}

const namesOf = (facts: readonly JournalFact[]) =>
  facts.map((fact) => (fact.type === 'begun' ? fact.name : `end of ${fact.of}`));

/** Everything that was promised about one task is there. */
async function expectKept(store: Store, [what, taskId = '', effectId = '']: readonly string[]) {
  const attempts = await store.attempts.listOf(taskId);
  const facts = namesOf(await store.journal.read(taskId));
  const effect = await store.operations.get('system', effectId);
  const { answer } = (await store.inputs.find(taskId, 'one')) ?? {};
  const task = await store.tasks.get('system', taskId);
  const kept: Readonly<Record<string, boolean>> = {
    asked: facts[0] === 'who',
    parked: attempts.length === 2,
    answered: attempts.every(({ state }) => state !== 'parked'),
    sent: facts[1] === 'pay' && effect !== undefined,
    acknowledged: facts[2] === 'end of 1' && effect?.receipt === 'r',
    consumed: facts[3] === 'end of 0' && answer === undefined,
    settled: task?.phase === 'ended',
  };
  expect([what, taskId, kept[what ?? '']]).toEqual([what, taskId, true]);
}

/** What belongs together is there together, or not at all. */
async function expectWhole(store: Store, task: Task, ledger: readonly Operation[]) {
  const attempts = await store.attempts.listOf(task.id);
  const facts = await store.journal.read(task.id);
  const { input } = (await store.inputs.find(task.id, 'one')) ?? {};
  const unended = attempts.filter(({ state }) => state !== 'ended');
  expect(unended).toHaveLength(task.phase === 'ended' ? 0 : 1);
  expect(input !== undefined).toBe(facts.length > 0);
  expect(task.phase === 'input_required').toBe(input?.state === 'pending');
  if (unended[0]?.state === 'parked') expect(input?.state).toBe('pending');
  expect(facts.map(({ position }) => position)).toEqual(facts.map((_, index) => index));
  const own = ledger.filter(({ taskId }) => taskId === task.id);
  const effects = own.filter(({ parentId }) => parentId !== undefined).map(({ id }) => id);
  const sent = facts.flatMap((fact) => (fact.type === 'begun' ? (fact.operationId ?? []) : []));
  expect(effects).toEqual(sent);
  const call = own.find(({ parentId }) => parentId === undefined);
  expect(call?.dispatchedAt !== undefined).toBe(sent.length > 0);
}

async function wholeLedger({ operations }: Store): Promise<readonly Operation[]> {
  const all: Operation[] = [];
  for (let page = await operations.list('system', { limit: 200 }); page.length > 0;) {
    all.push(...page);
    const after = all.at(-1);
    page = after ? await operations.list('system', { limit: 200, after }) : [];
  }
  return all;
}

describe('after a SIGKILL in the middle of handlers that sleep and send', () => {
  test('what was promised is there, and nothing is there by half', async () => {
    const said: (readonly string[])[] = [];
    for (const lines of [3, 40, 300]) {
      said.push(...(await killedAfter(lines)));
      const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
      expect((await store.check()).ok).toBe(true);
      for (const words of said) await expectKept(store, words);
      const ledger = await wholeLedger(store);
      for (const task of await store.tasks.list('system', { limit: 200, withHandle: false })) {
        await expectWhole(store, task, ledger);
        // The next process starts anew: what the dead one has queued would be taken for its own.
        await store.tasks.settle({ ...SWEPT_UP, taskId: task.id });
      }
      await store.close();
    }
    expect(said.length).toBeGreaterThan(340);
  });
});

const SWEPT_UP = {
  outcome: { kind: 'cancelled' },
  callEnd: 'cancelled',
  reason: 'cancelled',
} as const;
