import type { Clock } from '../kernel/clock.ts';
import type { Store, StoreHealth } from '../stores/store.ts';

/** A look at a large store takes the process's time, so that several readers share one. */
const FRESH_MS = 30_000;

export interface CheckedStore extends StoreHealth {
  /** ms since the epoch. */
  readonly checkedAt: number;
}

/** The store's own check of itself, at most 30 s old. A check that failed is not kept. */
export function createStoreCheck(store: Pick<Store, 'check'>, clock: Clock) {
  let last: { readonly at: number; readonly health: Promise<CheckedStore> } | undefined;
  return async (): Promise<CheckedStore> => {
    const at = clock.monotonic();
    if (last === undefined || at - last.at >= FRESH_MS) {
      const checkedAt = clock.now();
      last = { at, health: store.check().then((health) => ({ ...health, checkedAt })) };
    }
    const mine = last;
    return mine.health.catch((error: unknown) => {
      if (last === mine) last = undefined;
      throw error;
    });
  };
}
