import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { isId } from '../../src/kernel/ids.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { RunEnd } from '../../src/runtime/job.ts';
import { RpcFailure } from '../../src/runtime/surface.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  ANYONE,
  answered,
  callOf,
  createReceivingSide,
  payTool,
  readTool,
  settleDown,
  stopped,
  toldToStop,
  until,
} from './receiving-side.ts';

describe('a call', () => {
  verifies(
    ['G1-17', 'G1-20', 'G2-18', 'G2-27', 'T24'],
    'has a record before its handle can go out',
    async () => {
      const side = await createReceivingSide({ run: async () => answered('done') });
      const task = await side.call();
      expect(isId('task', task.id)).toBe(true);
      expect(task.phase).toBe('working');
      const view = await side.runtime.receiver.view(ALICE, task.id, false);
      expect(view?.task.id).toBe(task.id);
    },
  );

  verifies(['G1-35', 'G2-41'], 'ends with exactly what the tool returned', async () => {
    const result = {
      content: [{ type: 'text', text: 'x', unknown: { kept: true } }],
      extra: [1, null],
    };
    const side = await createReceivingSide({
      run: async () => ({
        outcome: { kind: 'result', result },
        end: 'answered',
        reason: 'answered',
      }),
    });
    await side.open();
    const task = await side.call();
    expect(await side.outcome(task)).toEqual({ kind: 'result', result });
  });

  verifies(
    ['G1-37', 'G2-43', 'G2-118', 'G1-96', 'G2-24'],
    'that ends in an error keeps it as it came, and says so in words that can do no harm',
    async () => {
      const side = await createReceivingSide({
        run: () => Promise.reject(new RpcFailure(-32050, 'quota\u0007 exceeded', { left: 0 })),
      });
      await side.open();
      const task = await side.call();
      const error = { code: -32050, message: 'quota\u0007 exceeded', data: { left: 0 } };
      expect(await side.outcome(task)).toEqual({ kind: 'error', error });
      expect((await side.row(task)).message).toBe('quota  exceeded');
    },
  );

  it('tells the ledger what its end can mean, and has no row there when it is a read', async () => {
    const side = await createReceivingSide({
      run: async (job) => {
        await job.dispatched();
        return answered('paid');
      },
    });
    await side.open();
    const [read, pay] = [await side.call(), await side.call({ tool: payTool })];
    await side.outcome(read);
    await side.outcome(pay);
    expect(read.operationId).toBeUndefined();
    expect(await side.operationState(pay)).toBe('acknowledged');
  });

  it('that was never sent leaves an abandoned operation, whatever its handler says', async () => {
    const side = await createReceivingSide({ run: () => Promise.reject(new Error('no upstream')) });
    await side.open();
    const task = await side.call({ tool: payTool });
    await side.outcome(task);
    expect(await side.operationState(task)).toBe('abandoned');
  });

  verifies(
    ['T6', 'T15', 'G1-85', 'G1-118'],
    'may ask for retention within the limits, and for nothing else',
    async () => {
      const side = await createReceivingSide({ run: async () => answered('') });
      const ttlOf = async (wantedTtlMs?: number) =>
        (await side.call(wantedTtlMs === undefined ? {} : { wantedTtlMs })).ttlMs;
      const hour = 3_600_000;
      const work = hour + hour + 24 * hour; // queue, run, input
      expect(await ttlOf()).toBe(work + 24 * hour);
      expect(await ttlOf(0)).toBe(work);
      expect(await ttlOf(-5)).toBe(work);
      expect(await ttlOf(work + 5)).toBe(work + 5);
      expect(await ttlOf(Number.MAX_SAFE_INTEGER)).toBe(30 * 24 * hour);
    },
  );

  verifies(
    ['G1-101', 'T12'],
    'of nobody in particular keeps its record short, whatever is asked',
    async () => {
      const side = await createReceivingSide({ run: async () => answered('') });
      const task = await side.call({ principal: ANYONE, wantedTtlMs: 1e12 });
      const minute = 60_000;
      expect(task.ttlMs).toBe((60 + 15 + 15 + 60) * minute);
    },
  );

  verifies(
    'G1-117',
    'is refused with a hint when too much is open, and leaves nothing behind',
    async () => {
      const side = await createReceivingSide({ run: async () => answered(''), open: 1 });
      await side.call();
      const started = await side.runtime.receiver.start(callOf(readTool));
      expect(started).toEqual({ kind: 'full', limit: 'perPrincipal', retryAfterMs: 5_000 });
      expect(await side.store.tasks.counts()).toMatchObject({ working: 1 });
    },
  );

  it('whose commit lost its answer is found by its id', async () => {
    const side = await createReceivingSide({
      run: async () => answered(''),
      wrap: (store) => ({
        ...store,
        tasks: {
          ...store.tasks,
          create: async (params) => {
            await store.tasks.create(params);
            throw new Error('the answer got lost');
          },
        },
      }),
    });
    const task = await side.call();
    expect((await side.row(task)).id).toBe(task.id);
  });

  it('that cannot be stored is reported as that', async () => {
    const side = await createReceivingSide({
      run: async () => answered(''),
      wrap: (store) => ({
        ...store,
        tasks: { ...store.tasks, create: () => Promise.reject(new Error('disk full')) },
      }),
    });
    await expect(side.runtime.receiver.start(callOf(readTool))).rejects.toThrow('disk full');
  });
});

describe('a handler', () => {
  const broken: readonly (readonly [string, () => unknown, string, string])[] = [
    [
      'throws at once',
      () => {
        throw new Error('it broke: password=hunter2');
      },
      'internal_error',
      'it broke: password=[redacted]',
    ],
    ['rejects with no error', () => Promise.reject(undefined), 'internal_error', 'undefined'],
    ['returns nothing', () => undefined, 'invalid_end', 'the tool ended without a valid outcome'],
    [
      'returns a bare result',
      () => ({ content: [] }),
      'invalid_end',
      'the tool ended without a valid outcome',
    ],
    [
      'returns an unknown end',
      () => ({ ...answered(''), end: 'maybe' }),
      'invalid_end',
      'the tool ended without a valid outcome',
    ],
    [
      'returns an input-required outcome',
      () => ({ ...answered(''), outcome: { kind: 'input_required' } }),
      'invalid_end',
      'the tool ended without a valid outcome',
    ],
    [
      'returns what has no JSON form',
      () => ({ ...answered(''), outcome: { kind: 'result', result: { n: 1n } } }),
      'invalid_end',
      'the tool ended without a valid outcome',
    ],
  ];
  it.each(broken)(
    'that %s has its task settled all the same',
    async (...[, run, reason, message]) => {
      const side = await createReceivingSide({ run: async () => run() as RunEnd });
      await side.open();
      const task = await side.call();
      expect(await side.outcome(task)).toMatchObject({
        kind: 'error',
        error: { code: -32603, message, data: { reason } },
      });
      await until(() => side.engine.runningCount() === 0);
    },
  );

  it('that throws after it was sent names the operation to check', async () => {
    const side = await createReceivingSide({
      run: async (job) => {
        await job.dispatched();
        throw new Error('connection reset');
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    const { operationId } = task;
    expect(await side.outcome(task)).toMatchObject({
      error: { data: { reason: 'internal_error', operationId } },
    });
    expect(await side.operationState(task)).toBe('unknown');
  });

  it('whose result is beyond the hard limit is told so, and the ledger still knows the answer', async () => {
    const side = await createReceivingSide({
      limits: { outcomeBytesMax: 1_000 },
      run: async (job) => {
        await job.dispatched();
        return answered('x'.repeat(2_000));
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    expect(await side.outcome(task)).toMatchObject({
      error: { data: { reason: 'result_too_large', maxBytes: 1_000 } },
    });
    expect(await side.operationState(task)).toBe('acknowledged');
  });

  it('that answers after its grace leaves a trace in the ledger only', async () => {
    const clock = createManualClock();
    const late = createDeferred<RunEnd>();
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        await job.dispatched();
        return late.promise;
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(async () => (await side.operationState(task)) === 'dispatched');
    clock.advance(payTool.runLimitMs);
    clock.advance(5_000);
    expect(await side.outcome(task)).toMatchObject({
      error: { data: { reason: 'run_limit', operationId: task.operationId } },
    });
    expect(await side.operationState(task)).toBe('unknown');
    await until(() => side.engine.runningCount() === 0);

    late.resolve(answered('paid'));
    await until(async () => (await side.operationState(task)) === 'acknowledged');
    expect((await side.row(task)).ending).toBe('error');
  });

  it('gets its stop at the run limit, and an answer within the grace is the truth', async () => {
    const clock = createManualClock();
    const reasons: unknown[] = [];
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        await toldToStop(job.signal);
        reasons.push(job.signal.reason);
        return job.tool.name === 'report' ? answered('just in time') : stopped;
      },
    });
    await side.open();
    const [read, pay] = [await side.call(), await side.call({ tool: payTool })];
    await until(() => side.engine.runningCount() === 2);
    clock.advance(readTool.runLimitMs);
    expect(await side.outcome(read)).toMatchObject({ kind: 'result' });
    expect(await side.outcome(pay)).toMatchObject({ error: { data: { reason: 'run_limit' } } });
    expect(reasons).toEqual(['run_limit', 'run_limit']);
  });

  verifies(
    ['G1-144', 'G2-170'],
    'is stopped at the run limit, however lively its progress is',
    async () => {
      const clock = createManualClock();
      const side = await createReceivingSide({
        clock,
        run: async (job) => {
          const lively = (progress: number): void => {
            job.progress({ progress });
            job.status(`step ${progress}`);
            clock.after(readTool.runLimitMs / 10, () => lively(progress + 1));
          };
          lively(1);
          await toldToStop(job.signal);
          return stopped;
        },
      });
      await side.open();
      const task = await side.call();
      await until(() => side.engine.runningCount() === 1);
      for (let tenth = 1; tenth < 10; tenth += 1) clock.advance(readTool.runLimitMs / 10);
      expect((await side.row(task)).phase).toBe('working');
      clock.advance(readTool.runLimitMs / 10);
      expect(await side.outcome(task)).toMatchObject({ error: { data: { reason: 'run_limit' } } });
    },
  );

  verifies(['G1-141', 'G1-22', 'G2-23'], 'has no voice once its task has ended', async () => {
    const told = createDeferred<void>();
    const events: string[] = [];
    const side = await createReceivingSide({
      run: async (job) => {
        queueMicrotask(
          () =>
            void told.promise.then(() => {
              job.progress({ progress: 9 });
              job.log({ level: 'info' });
              job.status('still here');
            }),
        );
        return answered('done');
      },
    });
    side.runtime.feed.watchAll((event) => void events.push(event.kind));
    await side.open();
    const task = await side.call();
    await side.outcome(task);
    await until(() => events.length === 2);
    told.resolve();
    await settleDown();
    expect(events).toEqual(['changed', 'changed']);
    expect((await side.row(task)).message).toBeUndefined();
  });

  it('sends nothing after it was told to stop', async () => {
    const sent: boolean[] = [];
    const side = await createReceivingSide({
      run: async (job) => {
        await toldToStop(job.signal);
        sent.push(await job.dispatched());
        return stopped;
      },
    });
    await side.open();
    const task = await side.call({ tool: payTool });
    await until(() => side.engine.runningCount() === 1);
    await side.runtime.receiver.cancel(ALICE, task.id, 'cooperative');
    await side.outcome(task);
    expect(sent).toEqual([false]);
    expect(await side.operationState(task)).toBe('abandoned');
  });
});

describe('the status message', () => {
  it('is written at once, then at most four times a second, the last word always; its end clears it', async () => {
    const clock = createManualClock();
    const done = createDeferred<void>();
    const said: (string | undefined)[] = [];
    const side = await createReceivingSide({
      clock,
      run: async (job) => {
        for (let step = 1; step <= 50; step += 1) job.status(`step ${step}`);
        await done.promise;
        return answered('done');
      },
    });
    side.runtime.feed.watchAll(
      (event) => event.kind === 'changed' && said.push(event.task.message),
    );
    await side.open();
    const task = await side.call();
    await until(() => said.includes('step 1'));
    clock.advance(250);
    await until(() => said.includes('step 50'));
    done.resolve();
    await side.outcome(task);
    await until(() => said.length === 4);
    expect(said).toEqual([undefined, 'step 1', 'step 50', undefined]);
  });
});

describe('the queue', () => {
  it('ends what waited in it for longer than its allowance, before anything is sent', async () => {
    const clock = createManualClock();
    let runs = 0;
    const side = await createReceivingSide({
      clock,
      run: async () => {
        runs += 1;
        return answered('');
      },
    });
    const task = await side.call({ tool: payTool });
    clock.advance(3_600_001);
    await side.open();
    expect(await side.outcome(task)).toMatchObject({ error: { data: { reason: 'queue_limit' } } });
    expect([runs, await side.operationState(task)]).toEqual([0, 'abandoned']);
  });

  it('ends a call whose tool is not served any more', async () => {
    const side = await createReceivingSide({ run: async () => answered('') });
    const task = await side.call({ tool: { ...readTool, name: 'gone' } });
    await side.open();
    expect(await side.outcome(task)).toMatchObject({ error: { data: { reason: 'tool_gone' } } });
  });

  it('ends a call whose tool is refused by now', async () => {
    const refused = { ...payTool, mode: 'refuse' } as const;
    const side = await createReceivingSide({ tools: [refused], run: async () => answered('') });
    const task = await side.call({ tool: payTool });
    await side.open();
    expect(await side.outcome(task)).toMatchObject({ error: { data: { reason: 'tool_gone' } } });
    expect(await side.operationState(task)).toBe('abandoned');
  });
});
