import { expect, test } from 'vitest';
import { createManualClock } from '../kernel/manual-clock.ts';
import { createStoreCheck } from './store-check.ts';

function counting(outcome: () => Promise<{ ok: boolean }>) {
  const store = {
    looks: 0,
    check() {
      this.looks += 1;
      return outcome().then(({ ok }) => ({ kind: 'sqlite', schemaVersion: 1, ok, detail: '' }));
    },
  };
  return store;
}

test('readers at the same time, and soon after, share one look at the store', async () => {
  const clock = createManualClock();
  const store = counting(() => Promise.resolve({ ok: true }));
  const check = createStoreCheck(store, clock);
  const [one, other] = await Promise.all([check(), check()]);
  expect(one).toEqual(other);
  clock.advance(29_000);
  await check();
  expect(store.looks).toBe(1);
  clock.advance(1_000);
  expect((await check()).checkedAt).toBe(clock.now());
  expect(store.looks).toBe(2);
});

test('a look that failed is not kept', async () => {
  const outcomes = [Promise.reject(new Error('busy')), Promise.resolve({ ok: true })];
  const store = counting(() => outcomes.shift() ?? Promise.resolve({ ok: false }));
  const check = createStoreCheck(store, createManualClock());
  await expect(check()).rejects.toThrow('busy');
  expect(await check()).toMatchObject({ ok: true });
});
