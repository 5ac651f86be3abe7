import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { InputAnswer, InputRequest, Task } from '../../src/protocol/model.ts';
import type { TaskEvent } from '../../src/runtime/feed.ts';
import type { Job, Question, Reply, RunEnd } from '../../src/runtime/job.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  BOB,
  answered,
  createReceivingSide,
  payTool,
  readTool,
  settleDown,
  stopped,
  toldToStop,
  until,
  type ReceivingSide,
  type SideOptions,
} from './receiving-side.ts';

const form = (message: string): Question => ({
  method: 'elicitation/create',
  params: {
    message,
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  },
});
const accept = (ok: unknown = true): InputAnswer => ({
  kind: 'result',
  result: { action: 'accept', content: { ok: ok as boolean } },
});

/** A side whose handler plays `play` and ends with the kinds of the replies it got. */
async function askingSide(
  play: (job: Job) => Promise<readonly Reply[]>,
  options: Omit<SideOptions, 'run'> = {},
): Promise<ReceivingSide> {
  const run = async (job: Job): Promise<RunEnd> =>
    answered((await play(job)).map(({ kind }) => kind).join(' '));
  const side = await createReceivingSide({ ...options, run });
  await side.open();
  return side;
}

async function pendingOf(
  side: ReceivingSide,
  task: Task,
  count = 1,
): Promise<readonly InputRequest[]> {
  let inputs: readonly InputRequest[] = [];
  await until(async () => {
    inputs = (await side.view(task))?.inputs ?? [];
    return inputs.length === count;
  });
  return inputs;
}

async function textOf(side: ReceivingSide, task: Task): Promise<unknown> {
  const outcome = await side.outcome(task);
  return outcome.kind === 'result' ? outcome.result['content'] : outcome;
}
const text = (said: string) => [{ type: 'text', text: said }];
const answer = (side: ReceivingSide, task: Task, answers: Record<string, InputAnswer>) =>
  side.runtime.receiver.answer(ALICE, task.id, answers);

describe('a question', () => {
  verifies(
    ['G1-42', 'G1-45', 'G2-47', 'G2-55', 'T30'],
    'keeps the task in input_required until the last answer',
    async () => {
      const side = await askingSide((job) => job.ask([form('a'), form('b')]));
      const closed: string[] = [];
      side.runtime.feed.watchAll((event) => {
        if (event.kind === 'closed') closed.push(...event.keys);
      });
      const task = await side.call();
      const [first, second] = await pendingOf(side, task, 2);
      expect((await side.view(task))?.task.phase).toBe('input_required');

      expect(await answer(side, task, { [first?.key ?? '']: accept() })).toMatchObject({
        taken: [first?.key],
      });
      const between = await side.view(task);
      expect([between?.task.phase, between?.inputs.map(({ key }) => key)]).toEqual([
        'input_required',
        [second?.key],
      ]);

      await answer(side, task, { [second?.key ?? '']: accept(false) });
      expect(await textOf(side, task)).toEqual(text('answer answer'));
      expect(closed).toEqual([first?.key, second?.key]);
    },
  );

  verifies(
    ['G2-48', 'G2-50'],
    'has a key of its own in every round, safe in headers and JSON',
    async () => {
      const side = await askingSide(async (job) => [
        ...(await job.ask([form('a')])),
        ...(await job.ask([form('a')])),
      ]);
      const task = await side.call();
      const [one] = await pendingOf(side, task);
      await answer(side, task, { [one?.key ?? '']: accept() });
      await until(async () => (await pendingOf(side, task))[0]?.key !== one?.key);
      const [two] = await pendingOf(side, task);
      expect(two?.key).toMatch(/^in_[A-Za-z0-9_-]{27}$/);
      expect(await answer(side, task, { [one?.key ?? '']: accept() })).toMatchObject({
        taken: [],
        ignored: [one?.key],
      });
      await answer(side, task, { [two?.key ?? '']: accept() });
      expect(await textOf(side, task)).toEqual(text('answer answer'));
    },
  );

  verifies(
    ['G2-54', 'T28'],
    'is answered once: unknown, answered and racing keys are ignored',
    async () => {
      const side = await askingSide((job) => job.ask([form('a'), form('b')]));
      const task = await side.call();
      const [a = '', b = ''] = (await pendingOf(side, task, 2)).map(({ key }) => key);
      expect(await answer(side, task, {})).toEqual({
        kind: 'taken',
        taken: [],
        ignored: [],
        expired: [],
      });
      expect(await answer(side, task, { in_nobody: accept() })).toMatchObject({
        ignored: ['in_nobody'],
      });
      const racing = await Promise.all(
        [1, 2, 3, 4].map(() => answer(side, task, { [a]: accept() })),
      );
      expect(racing.filter((one) => one.kind === 'taken' && one.taken.length === 1)).toHaveLength(
        1,
      );
      const last = await Promise.all([1, 2].map(() => answer(side, task, { [b]: accept() })));
      expect(last.filter((one) => one.kind === 'taken' && one.taken.length === 1)).toHaveLength(1);
      expect(await textOf(side, task)).toEqual(text('answer answer'));
      expect(await answer(side, task, { [b]: accept() })).toMatchObject({
        taken: [],
        ignored: [b],
      });
    },
  );

  verifies(
    ['T28', 'G1-63', 'G2-82'],
    'that got a malformed answer stays open, and so does all that came with it',
    async () => {
      const side = await askingSide((job) => job.ask([form('a'), form('b')]));
      const task = await side.call();
      const [a = '', b = ''] = (await pendingOf(side, task, 2)).map(({ key }) => key);
      const malformed = await answer(side, task, { [a]: accept(), [b]: accept('yes') });
      expect(malformed).toMatchObject({ kind: 'malformed', key: b });
      expect((await pendingOf(side, task, 2)).map(({ key }) => key)).toEqual([a, b]);
    },
  );

  verifies(
    ['G2-59', 'G1-48', 'G2-67'],
    'of a kind that the request did not declare is seen by nobody',
    async () => {
      const url: Question = {
        method: 'elicitation/create',
        params: { mode: 'url', url: 'https://a.example', message: '' },
      };
      const sampling: Question = {
        method: 'sampling/createMessage',
        params: { messages: [], maxTokens: 1 },
      };
      const side = await askingSide((job) =>
        job.ask([url, sampling, { method: 'roots/list', params: {} }]),
      );
      const events: TaskEvent[] = [];
      side.runtime.feed.watchAll((event) => void events.push(event));
      const task = await side.call();
      expect(await textOf(side, task)).toEqual(text('undeclared undeclared undeclared'));
      expect(events.map(({ kind }) => kind)).not.toContain('asked');
    },
  );

  it('gets its answer even when that comes before anybody waits for it', async () => {
    const side = await askingSide((job) => job.ask([form('a')]));
    const taken = createDeferred<unknown>();
    side.runtime.feed.watchAll((event) => {
      if (event.kind !== 'asked') return;
      const [{ key } = { key: '' }] = event.inputs;
      taken.resolve(side.runtime.receiver.answer(ALICE, event.task.id, { [key]: accept() }));
    });
    const task = await side.call();
    expect(await taken.promise).toMatchObject({ kind: 'taken' });
    expect(await textOf(side, task)).toEqual(text('answer'));
  });

  verifies(['G1-100', 'G2-125', 'G2-81'], 'cannot be answered by anybody else', async () => {
    const side = await askingSide((job) => job.ask([form('a')]));
    const task = await side.call();
    const [{ key } = { key: '' }] = await pendingOf(side, task);
    expect(await side.runtime.receiver.answer(BOB, task.id, { [key]: accept() })).toEqual({
      kind: 'missing',
    });
    expect(await pendingOf(side, task)).toHaveLength(1);
  });

  verifies(
    ['G2-68'],
    'that nobody answers expires, and a late answer is told nothing',
    async () => {
      const clock = createManualClock();
      const side = await askingSide((job) => job.ask([form('a')]), { clock });
      const task = await side.call();
      const [{ key } = { key: '' }] = await pendingOf(side, task);
      clock.advance(readTool.inputExpiryMs);
      expect(await textOf(side, task)).toEqual(text('expired'));
      expect(await answer(side, task, { [key]: accept() })).toMatchObject({ taken: [] });
    },
  );

  it('expires by the sweep when the wall clock jumps over its time', async () => {
    const clock = createManualClock();
    const side = await askingSide((job) => job.ask([form('a')]), { clock });
    const task = await side.call();
    await pendingOf(side, task);
    clock.jump(readTool.inputExpiryMs + 1);
    expect((await side.view(task))?.task.phase).toBe('working');
    expect((await side.runtime.sweep()).inputsExpired).toBe(1);
    expect(await textOf(side, task)).toEqual(text('expired'));
  });

  it('is not asked any more once the allowance for waiting is used up', async () => {
    const clock = createManualClock();
    const tool = { ...readTool, inputAllowanceMs: 90_000, inputExpiryMs: 60_000 };
    const side = await askingSide(
      async (job) => [
        ...(await job.ask([form('1')])),
        ...(await job.ask([form('2')])),
        ...(await job.ask([form('3')])),
      ],
      { clock, tools: [tool] },
    );
    const task = await side.call({ tool });
    await pendingOf(side, task);
    clock.advance(60_000);
    await until(async () => (await side.view(task))?.inputs[0]?.params['message'] === '2');
    clock.advance(30_000);
    expect(await textOf(side, task)).toEqual(text('expired expired expired'));
  });

  verifies(
    ['T18'],
    'is withdrawn when its task is cancelled, and the run hears of it',
    async () => {
      const side = await askingSide((job) => job.ask([form('a')]));
      const closed: string[] = [];
      side.runtime.feed.watchAll(
        (event) => void (event.kind === 'closed' && closed.push(...event.keys)),
      );
      const task = await side.call();
      const [{ key } = { key: '' }] = await pendingOf(side, task);
      const cancelled = await side.runtime.receiver.cancel(ALICE, task.id, 'at-once');
      expect(cancelled).toMatchObject({
        kind: 'cancelled',
        view: { task: { ending: 'cancelled' }, inputs: [] },
      });
      await until(() => side.engine.runningCount() + side.engine.parkedCount() === 0);
      expect(closed).toEqual([key]);
      expect(await answer(side, task, { [key]: accept() })).toMatchObject({
        taken: [],
        ignored: [key],
      });
    },
  );

  it('that the upstream takes back is withdrawn, and the others stay open', async () => {
    const takenBack = new AbortController();
    const side = await askingSide(async (job) => {
      const [one, two] = [job.ask([form('a')], takenBack.signal), job.ask([form('b')])];
      return [...(await one), ...(await two)];
    });
    const task = await side.call();
    await pendingOf(side, task, 2);
    takenBack.abort();
    const [left] = await pendingOf(side, task, 1);
    expect(left?.params['message']).toBe('b');
    await answer(side, task, { [left?.key ?? '']: accept() });
    expect(await textOf(side, task)).toEqual(text('withdrawn answer'));
  });

  it('that is being stored when its run is told to stop is withdrawn', async () => {
    const replies = createDeferred<readonly Reply[]>();
    const side = await createReceivingSide({
      run: async (job) => {
        replies.resolve(await job.ask([form('a')]));
        return stopped;
      },
      wrap: (store) => ({
        ...store,
        inputs: {
          ...store.inputs,
          ask: async (fence, inputs) => {
            const asked = await store.inputs.ask(fence, inputs);
            await side.runtime.receiver.cancel(ALICE, fence.taskId, 'cooperative');
            return asked;
          },
        },
      }),
    });
    await side.open();
    const task = await side.call();
    expect(await replies.promise).toEqual([{ kind: 'withdrawn' }]);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
  });

  it('comes after the status that was set before it', async () => {
    const side = await askingSide((job) => {
      job.status('first');
      job.status('about to ask');
      return job.ask([form('a')]);
    });
    const seen: (string | undefined)[] = [];
    side.runtime.feed.watchAll(
      (event) => void (event.kind === 'asked' && seen.push(event.task.message)),
    );
    const task = await side.call();
    await pendingOf(side, task);
    expect(seen).toEqual(['about to ask']);
  });
});

describe('a person who takes time', () => {
  it('does not use up the run limit (Q1), nor does the run use up the time to answer', async () => {
    const clock = createManualClock();
    const more = createDeferred<void>();
    const tool = { ...payTool, runLimitMs: 60_000, inputExpiryMs: 3_600_000 };
    const side = await askingSide(
      async (job) => {
        const replies = await job.ask([form('a')]);
        await Promise.race([more.promise, toldToStop(job.signal)]);
        return replies;
      },
      { clock, tools: [tool] },
    );
    const task = await side.call({ tool });
    const [{ key } = { key: '' }] = await pendingOf(side, task);
    clock.advance(1_800_000);
    await answer(side, task, { [key]: accept() });
    await settleDown();
    expect(side.runtime.stats()).toMatchObject({ running: 1, parked: 0 });
    clock.advance(59_000);
    await settleDown();
    expect((await side.row(task)).phase).toBe('working');
    more.resolve();
    expect(await textOf(side, task)).toEqual(text('answer'));
  });

  it('is a run limit again when the answer has come', async () => {
    const clock = createManualClock();
    const tool = { ...payTool, runLimitMs: 60_000 };
    const side = await createReceivingSide({
      clock,
      tools: [tool],
      run: async (job) => {
        await job.ask([form('a')]);
        await toldToStop(job.signal);
        return stopped;
      },
    });
    await side.open();
    const task = await side.call({ tool });
    const [{ key } = { key: '' }] = await pendingOf(side, task);
    clock.advance(1_800_000);
    await answer(side, task, { [key]: accept() });
    await until(() => side.runtime.stats().openQuestions === 0);
    await settleDown();
    clock.advance(60_000);
    expect(await side.outcome(task)).toMatchObject({ error: { data: { reason: 'run_limit' } } });
  });

  it('keeps nobody waiting: a parked run takes no slot, neither of the process nor of its tool', async () => {
    const tool = { ...readTool, concurrency: 1 };
    const side = await askingSide(
      async (job) => (job.request.arguments['ask'] === true ? job.ask([form('a')]) : []),
      {
        tools: [tool],
        slots: 1,
      },
    );
    const slow = await side.call({ tool, arguments: { ask: true } });
    await pendingOf(side, slow);
    expect(side.runtime.stats()).toMatchObject({ running: 0, parked: 1, openQuestions: 1 });
    expect(await textOf(side, await side.call({ tool }))).toEqual(text(''));
    const [{ key } = { key: '' }] = await pendingOf(side, slow);
    await answer(side, slow, { [key]: accept() });
    expect(await textOf(side, slow)).toEqual(text('answer'));
  });

  it('parks only so many: above the cap a waiting run keeps its slot', async () => {
    const side = await askingSide(
      async (job) => (job.request.arguments['ask'] === true ? job.ask([form('a')]) : []),
      {
        slots: 1,
        parkedMax: 0,
      },
    );
    const slow = await side.call({ arguments: { ask: true } });
    const [{ key } = { key: '' }] = await pendingOf(side, slow);
    const next = await side.call();
    await settleDown();
    expect((await side.row(next)).phase).toBe('working');
    expect(side.runtime.stats()).toMatchObject({ running: 1, parked: 0 });
    await answer(side, slow, { [key]: accept() });
    expect(await textOf(side, next)).toEqual(text(''));
  });
});
