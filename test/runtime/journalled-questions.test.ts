import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { InputAnswer, Task } from '../../src/protocol/model.ts';
import type { FormQuestion } from '../../src/runtime/steps/context.ts';
import {
  createJournalledSide,
  journalledTool,
  result,
  type JournalledSide,
} from './journalled-side.ts';
import { ALICE, settleDown, until } from './receiving-side.ts';

const form: FormQuestion = {
  message: 'Deploy?',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
};

const pendingOf = async (side: JournalledSide, task: Task, count: number) => {
  const list = () => side.store.inputs.listPending('system', task.id);
  await until(async () => (await list()).length === count);
  return (await list()).map(({ key }) => key);
};
const saying = (ok: boolean): InputAnswer => ({
  kind: 'result',
  result: { action: 'accept', content: { ok } },
});
const answer = (side: JournalledSide, task: Task, answers: Readonly<Record<string, InputAnswer>>) =>
  side.runtime.receiver.answer(ALICE, task.id, answers);
const isParked = (side: JournalledSide, task: Task) => async (): Promise<boolean> =>
  (await side.store.attempts.listOf(task.id)).at(-1)?.state === 'parked';

describe('a question of a journalled handler', () => {
  it('costs no worker, and its answer starts the next attempt, once', async () => {
    let runs = 0;
    const did: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        runs += 1;
        await job.step('build', () => void did.push('build'));
        const said = await job.ask('approve', form);
        if (said.action !== 'accept') return result('left alone');
        await job.step('ship', () => void did.push('ship'));
        return result(`shipped ${String(said.content['ok'])}`);
      },
    });
    const task = await side.begin();
    const [key = ''] = await pendingOf(side, task, 1);
    await until(isParked(side, task));
    await settleDown();
    expect(side.runtime.stats()).toMatchObject({ running: 0, parked: 0 });
    await Promise.all([
      answer(side, task, { [key]: saying(true) }),
      answer(side, task, { [key]: saying(true) }),
      answer(side, task, { [key]: saying(true) }),
    ]);
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('shipped true') });
    expect(runs).toBe(2);
    expect(did).toEqual(['build', 'ship']);
  });

  it('stays open under its key when the process dies, and its answer finds the next one', async () => {
    const side = await createJournalledSide({
      handler: async (job) => {
        const said = await job.ask('approve', form);
        return result(said.action);
      },
    });
    const task = await side.begin();
    const [key = ''] = await pendingOf(side, task, 1);
    await until(isParked(side, task));
    const next = await side.dieAndRise();
    expect(await pendingOf(next, task, 1)).toEqual([key]);
    await answer(next, task, { [key]: saying(true) });
    expect(await next.outcome(task)).toEqual({ kind: 'result', result: result('accept') });
  });

  it('that was answered while everything was down is not asked again', async () => {
    let asked = 0;
    const slow = createDeferred<null>();
    const side = await createJournalledSide({
      handler: async (job) => {
        asked += 1;
        const [said] = await Promise.all([
          job.ask('approve', form),
          job.step('slow', () => (asked === 1 ? slow.promise : null)),
        ]);
        return result(said.action);
      },
    });
    const task = await side.begin();
    const [key = ''] = await pendingOf(side, task, 1);
    await answer(side, task, { [key]: saying(true) });
    const next = await side.dieAndRise();
    expect(await next.outcome(task)).toEqual({ kind: 'result', result: result('accept') });
  });

  it('is one of several: they are answered one by one, in any order, and the last answer resumes', async () => {
    let runs = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        runs += 1;
        const said = await job.askAll({ first: form, second: form });
        return result(
          [said.first, said.second]
            .map((each) => (each.action === 'accept' ? String(each.content['ok']) : each.action))
            .join(),
        );
      },
    });
    const task = await side.begin();
    const [first = '', second = ''] = await pendingOf(side, task, 2);
    await answer(side, task, { [second]: saying(false) });
    await settleDown();
    expect(runs).toBe(1);
    expect(await pendingOf(side, task, 1)).toEqual([first]);
    await answer(side, task, { [first]: saying(true) });
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('true,false') });
    expect(runs).toBe(2);
  });

  it('does not stop the work beside it, and its answer is heard while that goes on', async () => {
    const slow = createDeferred<string>();
    const heard: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        const [work] = await Promise.all([
          job.step('work', () => slow.promise),
          job.ask('approve', form).then(({ action }) => heard.push(action)),
        ]);
        return result(work);
      },
    });
    const task = await side.begin();
    const [key = ''] = await pendingOf(side, task, 1);
    await answer(side, task, { [key]: saying(true) });
    await until(() => heard.length === 1);
    slow.resolve('worked');
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('worked') });
    expect(heard).toEqual(['accept']);
    expect(await side.store.attempts.listOf(task.id)).toHaveLength(1);
  });

  it('can lose against a time', async () => {
    const side = await createJournalledSide({
      handler: async (job) => {
        const now = await job.step('now', () => side.clock.now());
        const first = await Promise.race([
          job.ask('approve', form).then(({ action }) => action),
          job.sleepUntil('patience', now + 5_000).then(() => 'nobody came'),
        ]);
        return result(first);
      },
    });
    const task = await side.begin();
    await pendingOf(side, task, 1);
    await until(isParked(side, task));
    await until(async () => (await side.store.attempts.nextWakeAt()) !== undefined);
    await settleDown();
    side.clock.advance(5_000);
    expect(await side.outcome(task)).toEqual({ kind: 'result', result: result('nobody came') });
    expect(await side.store.inputs.listPending('system', task.id)).toEqual([]);
  });

  it('that nobody answers ends the call where it said so, whatever the handler catches', async () => {
    const side = await createJournalledSide({
      handler: async (job) => {
        const said = await job
          .ask('approve', { ...form, onExpiry: 'cancel', expiresInMs: 1_000 })
          .catch(() => ({ action: 'caught' }));
        return result(said.action);
      },
    });
    const task = await side.begin();
    await pendingOf(side, task, 1);
    await until(isParked(side, task));
    side.clock.advance(1_001);
    await side.runtime.sweep();
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
  });

  it('that cannot be asked is refused in the same place in each attempt', async () => {
    const refused: string[] = [];
    const side = await createJournalledSide({
      handler: async (job) => {
        await job
          .ask('password', {
            ...form,
            schema: { type: 'object', properties: { password: { type: 'string' } } },
          })
          .catch((thrown: unknown) => refused.push(String(thrown)));
        await job.sleepUntil('pause', (await job.step('now', () => side.clock.now())) + 10);
        return result('done');
      },
    });
    const task = await side.begin();
    await until(isParked(side, task));
    await until(async () => (await side.store.attempts.nextWakeAt()) !== undefined);
    await settleDown();
    side.clock.advance(10);
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(refused).toHaveLength(2);
    expect(refused[1]).toBe(refused[0]);
    expect(refused[0]).toContain('cannot be asked');
  });

  it('has no more time than is left of the allowance, over all attempts', async () => {
    const open: number[] = [];
    const side = await createJournalledSide({
      tools: [{ ...journalledTool, inputExpiryMs: 80_000, inputAllowanceMs: 100_000 }],
      handler: async (job) => {
        await job.ask('first', form);
        await job.ask('second', form);
        return result('done');
      },
    });
    const task = await side.begin();
    for (const waitedMs of [70_000, 10_000]) {
      const [key = ''] = await pendingOf(side, task, 1);
      const input = await side.store.inputs.find(task.id, key);
      open.push((input?.input.expiresAt ?? 0) - (input?.input.askedAt ?? 0));
      await until(isParked(side, task));
      side.clock.advance(waitedMs);
      await answer(side, task, { [key]: saying(true) });
    }
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(open).toEqual([80_000, 30_000]);
  });
});
