import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import type { Store } from '../store.ts';
import { createSqliteStore } from './store.ts';

async function openStore(): Promise<{ readonly store: Store; readonly path: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-presence-'));
  const path = join(folder, 'longcall.db');
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { store, path };
}

const append = (store: Store) =>
  store.events.append({ type: 'test', tenant: 'north', actor: 'test' });

test.each([
  ['removed', (path: string) => rmSync(path)],
  ['without its log', (path: string) => rmSync(`${path}-wal`)],
  [
    'replaced by a copy',
    (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
])('nothing is promised any more once the file was %s', async (_, harm) => {
  const { store, path } = await openStore();
  await append(store);
  harm(path);
  await expect(append(store)).rejects.toMatchObject({
    code: 'LONGCALL_STORE_FAILED',
    message: expect.stringContaining('was removed or replaced while it was in use'),
    data: { written: 'no' },
  });
  expect(await store.check()).toMatchObject({ ok: false });
  expect(await store.events.list({ limit: 10 })).toHaveLength(1);
});

test('a store that is opened again, and one whose log was emptied, go on', async () => {
  const { store, path } = await openStore();
  for (let count = 0; count < 50; count += 1) await append(store);
  await store.close();
  const again = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  onTestFinished(() => again.close());
  await append(again);
  expect(await again.check()).toMatchObject({ ok: true });
});
