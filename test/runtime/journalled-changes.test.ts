import { describe, expect, it, test } from 'vitest';
import { createJournalledSide, result, type Handler } from './journalled-side.ts';
import { until } from './receiving-side.ts';

interface Change {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
  /** The handler as it is now; it notes what of the new it has done. */
  readonly changed: (ran: string[]) => Handler;
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('a handler that has changed while a call of it was open', () => {
  /** Two steps and an effect, and then a death in a third step. */
  const before: Handler = async (job) => {
    await job.step('fetch', () => 'rows');
    await job.effect('send', () => 'sent');
    await job.step('store', never);
  };

  async function after(changed: (ran: string[]) => Handler) {
    let begun = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        await job.step('fetch', () => 'rows');
        await job.effect('send', () => 'sent');
        await job.step('store', () => ((begun += 1), never()));
      },
    });
    const task = await side.begin();
    await until(() => begun === 1);
    const facts = await side.store.journal.read(task.id);
    const ran: string[] = [];
    const next = await side.dieAndRise(changed(ran));
    const outcome = await next.outcome(task);
    expect(await next.store.journal.read(task.id)).toEqual(facts);
    return { outcome, ran };
  }

  const changes: readonly Change[] = [
    {
      what: 'renames a step',
      expected: 'the step "fetch"',
      found: 'the step "load"',
      changed: (ran) => async (job) => {
        await job.step('load', () => void ran.push('load'));
        await before(job);
      },
    },
    {
      what: 'makes an effect of a step',
      expected: 'the step "fetch"',
      found: 'the effect "fetch"',
      changed: (ran) => (job) => job.effect('fetch', () => void ran.push('fetch')),
    },
    {
      what: 'puts a step before the others',
      expected: 'the effect "send"',
      found: 'the step "check"',
      changed: (ran) => async (job) => {
        await job.step('fetch', () => 'rows');
        await job.step('check', () => void ran.push('check'));
        await before(job);
      },
    },
    {
      what: 'takes a step out',
      expected: 'the effect "send"',
      found: 'the step "store"',
      changed: (ran) => async (job) => {
        await job.step('fetch', () => 'rows');
        await job.step('store', () => void ran.push('store'));
      },
    },
    {
      what: 'returns earlier',
      expected: 'the effect "send"',
      found: 'nothing',
      changed: () => async (job) => {
        await job.step('fetch', () => 'rows');
        return result('early');
      },
    },
    {
      what: 'throws earlier',
      expected: 'the effect "send"',
      found: 'nothing',
      changed: () => async (job) => {
        await job.step('fetch', () => 'rows');
        throw new Error('no more');
      },
    },
  ];
  test.each(changes)(
    'and $what is stopped there, and nothing is done after it',
    async ({ expected, found, changed }) => {
      const { outcome, ran } = await after(changed);
      expect(outcome).toMatchObject({
        kind: 'error',
        error: {
          data: { reason: 'journal_mismatch', code: 'LONGCALL_JOURNAL_MISMATCH', expected },
        },
      });
      const said = outcome.kind === 'error' ? outcome.error.message : '';
      expect(said).toContain(`it asked for ${expected} before, and now for ${found}`);
      expect(said).toContain('Done by then: send (op_');
      expect(ran).toEqual([]);
    },
  );

  it('and does more after what is recorded goes on', async () => {
    let begun = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        await job.step('fetch', () => 'rows');
        await job.step('store', () => ((begun += 1), never()));
      },
    });
    const task = await side.begin();
    await until(() => begun === 1);
    const did: string[] = [];
    const next = await side.dieAndRise(async (job) => {
      await job.step('fetch', () => (did.push('fetch'), 'rows'));
      await job.step('store', () => void did.push('store'));
      await job.step('index', () => void did.push('index'));
      return result('all');
    });
    expect(await next.outcome(task)).toEqual({ kind: 'result', result: result('all') });
    expect(did).toEqual(['store', 'index']);
  });

  it('and now waits for something that comes later is stopped too, after a while', async () => {
    let begun = 0;
    const side = await createJournalledSide({
      handler: async (job) => {
        const slow = job.step('slow', () => ((begun += 1), never()));
        await job.step('quick', () => 1);
        await slow;
      },
    });
    const task = await side.begin();
    await until(async () => begun === 1 && (await side.store.journal.read(task.id)).length === 3);
    const next = await side.dieAndRise(async (job) => {
      await job.step('slow', () => 1);
      await job.step('quick', () => 1);
    });
    await until(async () => {
      next.clock.advance(1_000);
      return (await next.row(task)).phase === 'ended';
    });
    expect(await next.outcome(task)).toMatchObject({
      error: { data: { reason: 'journal_mismatch', expected: 'the step "quick"' } },
    });
  });
});

describe('the name of a step', () => {
  test.each<readonly [string, string, Handler]>([
    [
      'counts once in a call',
      'the step "a" was used before in this call',
      async (job) => {
        await job.step('a', () => 1);
        await job.effect('a', () => 2);
      },
    ],
    ['is no empty text', 'has no name', (job) => job.step(' ', () => 1)],
    ['is text', 'has no name', (job) => job.step(undefined as unknown as string, () => 1)],
    ['is short', 'more than 128', (job) => job.step('x'.repeat(129), () => 1)],
    [
      'is not begun inside of another one',
      'steps do not nest',
      (job) => job.step('outer', () => job.step('inner', () => 1)),
    ],
    [
      'is not begun inside of an effect',
      'steps do not nest',
      (job) =>
        job.effect('outer', async () => (await Promise.resolve(), job.step('inner', () => 1))),
    ],
  ])('%s', async (_what, words, handler) => {
    const side = await createJournalledSide({ handler });
    expect(await side.outcome(await side.begin())).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining(words) as string },
    });
  });
});

describe('the value of a step', () => {
  class Money {
    readonly cents = 1;
  }
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  test.each<readonly [string, unknown, string]>([
    ['a Date', { at: [new Date(0)] }, 'the value.at[0] is an object of class Date'],
    ['a Map', new Map(), 'the value is an object of class Map'],
    [
      'an instance of a class',
      { price: new Money() },
      'the value.price is an object of class Money',
    ],
    ['a function', { run: () => 1 }, 'the value.run is a function'],
    ['a bigint', 1n, 'the value is a bigint'],
    ['NaN', [NaN], 'the value[0] is NaN'],
    ['a hole in a list', [1, undefined], 'the value[1] is undefined'],
    ['a circle', cyclic, 'nests deeper than 100 levels'],
    ['more than 4 MiB', 'x'.repeat(4 * 1024 ** 2), 'more than the 4194304 that are remembered'],
  ])('is not %s', async (_what, value, words) => {
    const side = await createJournalledSide({
      handler: (job) => job.step('read', () => value as never),
    });
    expect(await side.outcome(await side.begin())).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining(words) as string },
    });
  });

  it('is the same in the first attempt as in a later one: a copy', async () => {
    const seen: unknown[] = [];
    const shared = { list: [1], left: undefined };
    const side = await createJournalledSide({
      handler: async (job) => {
        const got = await job.step('read', () => shared);
        got.list.push(2);
        seen.push(got);
        expect(await job.step('nothing', () => undefined)).toBeUndefined();
        expect(await job.step('null', () => null)).toBeNull();
        await job.sleepUntil('pause', (await job.step('now', () => side.clock.now())) + 10);
        return result('done');
      },
    });
    const task = await side.begin();
    await until(() => seen.length === 1);
    await until(async () => (await side.store.attempts.listOf(task.id)).length === 2);
    await until(async () => (await side.store.attempts.nextWakeAt()) !== undefined);
    side.clock.advance(10);
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(seen).toEqual([{ list: [1, 2] }, { list: [1, 2] }]);
    expect(shared.list).toEqual([1]);
  });
});
