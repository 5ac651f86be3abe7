import { describe, expect, it, test } from 'vitest';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Outcome } from '../../src/protocol/model.ts';
import { RpcFailure } from '../../src/runtime/surface.ts';
import { createJournalledSide, journalledTool, result, type Handler } from './journalled-side.ts';
import { ALICE, settleDown, toldToStop, until } from './receiving-side.ts';

async function endOf(handler: Handler): Promise<Outcome> {
  const side = await createJournalledSide({ handler });
  return side.outcome(await side.begin());
}

const failed = (message: string, reason: string) => ({
  kind: 'error',
  error: {
    code: -32603,
    message: expect.stringContaining(message) as string,
    data: expect.objectContaining({ reason }) as object,
  },
});

describe('whatever a handler does, its task ends, and says why', () => {
  test.each<readonly [string, Handler, object]>([
    [
      'throws synchronously [P4]',
      () => {
        throw new Error('the disk is on fire');
      },
      failed('the disk is on fire', 'internal_error'),
    ],
    [
      'rejects late [P1]',
      async (job) => {
        await job.step('a', () => 1);
        throw new Error('402 payment required');
      },
      failed('402 payment required', 'internal_error'),
    ],
    ['throws a text', () => Promise.reject('just words'), failed('just words', 'internal_error')],
    ['throws nothing', () => Promise.reject(undefined), failed('undefined', 'internal_error')],
    [
      'throws an object without a message',
      () => Promise.reject(Object.create(null)),
      failed('internal error', 'internal_error'),
    ],
    [
      'throws what cannot be turned into text',
      () =>
        Promise.reject({
          toString() {
            throw new Error('no');
          },
        }),
      failed('internal error', 'internal_error'),
    ],
    [
      'tells a secret in its error',
      () => Promise.reject(new Error('cannot log in with password=hunter2secret')),
      failed('cannot log in with password=[redacted]', 'internal_error'),
    ],
    ['returns undefined [P4]', () => undefined, failed('returned nothing', 'invalid_end')],
    ['returns null', () => null, failed('returned nothing', 'invalid_end')],
    ['returns a text', () => 'done', failed('returned a string', 'invalid_end')],
    ['returns a function', () => () => 1, failed('returned a function', 'invalid_end')],
    ['ends without a result', () => ({ status: 'ok' }), failed('without content', 'invalid_end')],
    [
      'returns a question [P4]',
      () => ({ resultType: 'input_required', inputRequests: {} }),
      failed('job.ask', 'invalid_end'),
    ],
    [
      'returns twice, callback style',
      () =>
        new Promise((resolve, reject) => {
          const callback = (thrown: Error | null, said?: unknown): void =>
            thrown ? reject(thrown) : resolve(said);
          callback(null, result('first'));
          callback(null, result('second'));
          callback(new Error('third'));
        }),
      { kind: 'result', result: result('first') },
    ],
    [
      'fails as tools fail',
      () => ({ ...(result('no such file') as object), isError: true }),
      { kind: 'result', result: { isError: true } },
    ],
    [
      'throws an error of the protocol',
      () => Promise.reject(new RpcFailure(-32002, 'no such resource', { uri: 'x:y' })),
      { kind: 'error', error: { code: -32002, message: 'no such resource', data: { uri: 'x:y' } } },
    ],
    [
      'lets an error of the protocol out of a step',
      (job) =>
        job.step('read', () => {
          throw new RpcFailure(-32002, 'no such resource', { uri: 'x:y' });
        }),
      { kind: 'error', error: { code: -32002, message: 'no such resource', data: { uri: 'x:y' } } },
    ],
  ])('%s', async (_what, handler, expected) => {
    expect(await endOf(handler)).toMatchObject(expected);
  });
});

/** What somebody else's code may throw: things that throw themselves when they are looked at. */
const HOSTILE: readonly (readonly [what: string, make: () => unknown])[] = [
  [
    'has a code that throws',
    () => ({
      get code() {
        throw new Error('no code');
      },
    }),
  ],
  ['has a name that is no text', () => Object.assign(new Error('odd'), { name: 7 })],
  [
    'throws whatever is done with it',
    () => {
      const trap = (): never => {
        throw new Error('trap');
      };
      return new Proxy(new Error('odd'), { get: trap, has: trap, getPrototypeOf: trap });
    },
  ],
];

describe('a step or an effect that throws something which', () => {
  test.each(HOSTILE)('%s ends, and its handler hears of it', async (_what, make) => {
    const caught: unknown[] = [];
    const outcome = await endOf(async (job) => {
      const fail = (): never => {
        throw make();
      };
      await job.step('step', fail).catch((thrown: unknown) => caught.push(thrown));
      await job.effect('effect', fail).catch((thrown: unknown) => caught.push(thrown));
      return result('went on');
    });
    expect(outcome).toEqual({ kind: 'result', result: result('went on') });
    expect(caught).toMatchObject([{ name: 'Error' }, { name: 'Error' }]);
  });
});

describe('a handler that tries again without end', () => {
  const FORM = { message: 'Go on?', schema: { type: 'object', properties: {} } };

  it('under a name that it has used stops nothing else, and ends by its mistake', async () => {
    let tries = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        for (;;) {
          tries += 1;
          const work = (): never => {
            throw new Error('503');
          };
          const again = tries % 2 === 0 ? job.ask('fetch', FORM) : job.step('fetch', work);
          await again.catch(() => undefined);
        }
      },
    });
    const task = await side.begin();
    expect(await side.outcome(task)).toMatchObject(failed('used before', 'internal_error'));
    const atTheEnd = tries;
    await settleDown();
    expect(tries).toBe(atTheEnd);
  });

  it('is not heard any more when its task has been cancelled', async () => {
    let tries = 0;
    const clock = createManualClock();
    const side = await createJournalledSide({
      clock,
      handler: async (job) => {
        for (;;) {
          tries += 1;
          await job
            .effect(`pay ${tries}`, ({ signal }) => toldToStop(signal))
            .catch(() => undefined);
        }
      },
    });
    const task = await side.begin();
    await until(() => tries === 1);
    await settleDown();
    await side.runtime.receiver.cancel(ALICE, task.id, 'cooperative');
    await until(() => tries > 3);
    clock.advance(5_000);
    expect(await side.outcome(task)).toEqual({ kind: 'cancelled' });
    await settleDown();
    const atTheEnd = tries;
    await settleDown();
    expect(tries).toBe(atTheEnd);
  });
});

describe('an author without types', () => {
  it('hears of a question that is none, and goes on', async () => {
    const caught: unknown[] = [];
    const outcome = await endOf(async (job) => {
      const catching = (asked: Promise<unknown>) =>
        asked.catch((thrown: unknown) => caught.push(thrown));
      await catching(job.ask('nothing', null as never));
      await catching(job.ask('no schema', { message: 'Sure?' } as never));
      await catching(
        job.askUrl('url', {
          message: 'Pay here',
          url: () => {
            throw new Error('no base address');
          },
        }),
      );
      return result('went on');
    });
    expect(outcome).toEqual({ kind: 'result', result: result('went on') });
    expect(caught).toHaveLength(3);
    for (const thrown of caught)
      expect(thrown).toMatchObject({
        message: expect.stringContaining('cannot be asked') as string,
      });
  });

  it('can tell any progress: it never fails', async () => {
    const outcome = await endOf((job) => {
      job.progress(1, undefined, 7 as never);
      job.progress(Number.NaN, 1n as never, Symbol('s') as never);
      job.log('info', 1n as never);
      return result('went on');
    });
    expect(outcome).toEqual({ kind: 'result', result: result('went on') });
  });

  it.each(['half \ud800', 'NUL \0', ' ', 'x'.repeat(129)])(
    'cannot name a step %j, which no store gives back as it is',
    async (name) => {
      const outcome = await endOf((job) => job.step(name, () => 1));
      expect(outcome).toMatchObject(failed('name', 'internal_error'));
    },
  );

  it('is told what cannot be remembered, also of an object without a class', async () => {
    const odd = Object.assign(Object.create({}) as object, { constructor: null });
    const outcome = await endOf((job) => job.step('odd', () => odd));
    expect(outcome).toMatchObject(failed('cannot be remembered', 'internal_error'));
  });
});

describe('a handler that hangs', () => {
  it('is told at its run limit, and its task ends when its grace does', async () => {
    const clock = createManualClock();
    const reasons: unknown[] = [];
    const side = await createJournalledSide({
      clock,
      tools: [{ ...journalledTool, runLimitMs: 60_000 }],
      handler: async (job) => {
        job.signal.addEventListener('abort', () => reasons.push(job.signal.reason));
        await new Promise(() => undefined);
      },
    });
    const task = await side.begin();
    await settleDown();
    clock.advance(60_000);
    await settleDown();
    expect(reasons).toMatchObject([{ name: 'AbortError', reason: 'run_limit' }]);
    expect((await side.row(task)).phase).toBe('working');
    clock.advance(5_000);
    expect(await side.outcome(task)).toMatchObject(failed('longer than its limit', 'run_limit'));
  });

  it('and fails after its task has ended changes nothing', async () => {
    const clock = createManualClock();
    const fail: ((thrown: Error) => void)[] = [];
    const side = await createJournalledSide({
      clock,
      tools: [{ ...journalledTool, runLimitMs: 60_000 }],
      handler: () => new Promise((_resolve, reject) => fail.push(reject)),
    });
    const task = await side.begin();
    await settleDown();
    clock.advance(60_000);
    await settleDown();
    clock.advance(5_000);
    const outcome = await side.outcome(task);
    fail[0]?.(new Error('too late'));
    await settleDown();
    expect(await side.outcome(task)).toEqual(outcome);
  });

  it('has its run limit over all its attempts, without the time that it slept or waited in the queue', async () => {
    const clock = createManualClock();
    const begun: number[] = [];
    const side = await createJournalledSide({
      clock,
      tools: [{ ...journalledTool, runLimitMs: 60_000 }],
      handler: async (job) => {
        begun.push(job.deadline - side.store.now());
        const now = await job.step('now', () => side.clock.now());
        await job.step('work', async () => {
          await new Promise<void>((resolve) => void clock.after(40_000, resolve));
          return null;
        });
        await job.sleepUntil('rest', now + 3_600_000);
        await job.step('more', () => new Promise<null>(() => undefined));
      },
    });
    const task = await side.begin();
    await settleDown();
    clock.advance(40_000);
    await until(async () => (await side.store.attempts.listOf(task.id)).length === 2);
    await settleDown();
    clock.advance(3_600_000);
    await until(() => begun.length === 2);
    await settleDown();
    expect(begun).toEqual([60_000, 20_000]);
    clock.advance(20_000);
    await settleDown();
    clock.advance(5_000);
    expect(await side.outcome(task)).toMatchObject(failed('longer than its limit', 'run_limit'));
  });

  it('and dies again and again has no fresh run limit, and is not tried for ever', async () => {
    const clock = createManualClock();
    const begun: number[] = [];
    const handler: Handler = async (job) => {
      await job.step('poison', () => {
        begun.push(job.deadline);
        return new Promise<null>(() => undefined);
      });
    };
    let side = await createJournalledSide({ clock, handler });
    const task = await side.begin();
    for (let death = 1; death <= 3; death += 1) {
      await until(() => begun.length === death);
      side = await side.dieAndRise();
    }
    const outcome = await side.outcome(task);
    expect(outcome).toMatchObject(failed('3 times', 'attempts_exhausted'));
    // Its step has begun three times: whoever reads this must not repeat it unseen.
    const { operationId } = task;
    expect(outcome).toMatchObject({ error: { data: { operationId } } });
    expect(outcome).toMatchObject(failed('do not repeat it', 'attempts_exhausted'));
    expect(begun).toHaveLength(3);
  });
});
