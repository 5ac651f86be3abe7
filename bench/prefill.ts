import { join } from 'node:path';
import { localPrincipal } from '../src/identity/principal.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { newId } from '../src/kernel/ids.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { createSqliteStore } from '../src/stores/sqlite/store.ts';
import type { Store } from '../src/stores/store.ts';

const DAY_MS = 86_400_000;
const ROOM = { perPrincipal: 1e9, perTenant: 1e9, total: 1e9 };

async function addEnded(store: Store): Promise<string> {
  const { key: owner, tenant } = localPrincipal();
  const id = newId('task', systemRandom);
  await store.tasks.create({
    task: {
      id,
      owner,
      tenant,
      origin: '2025-11-25',
      handle: 'given',
      upstream: 'bench',
      tool: 'park',
      effect: 'read',
      ttlMs: DAY_MS,
      pollIntervalMs: 1000,
      asks: [],
    },
    request: { arguments: {}, meta: {} },
    attemptId: newId('attempt', systemRandom),
    limits: ROOM,
  });
  const outcome = { kind: 'result' as const, result: { content: [{ type: 'text', text: 'ok' }] } };
  await store.tasks.settle({ taskId: id, outcome, callEnd: 'answered', reason: 'answered' });
  return id;
}

/** Puts `count` ended tasks of the local user into the store of a data directory; answers their ids. */
export async function prefill(data: string, count: number): Promise<readonly string[]> {
  const path = join(data, 'longcall.db');
  const store = await createSqliteStore({ path, clock: systemClock, random: systemRandom });
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Math.min(256, count - ids.length);
    ids.push(...(await Promise.all(Array.from({ length: batch }, () => addEnded(store)))));
  }
  await store.close();
  return ids;
}
