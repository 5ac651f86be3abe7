import { randomFillSync, randomInt } from 'node:crypto';

/** The only source of randomness; injected, so that a seed can replay a history. */
export interface Random {
  /** `count` cryptographically strong bytes. */
  bytes(count: number): Uint8Array;
  /** A float in [0, 1). Good for jitter, not for secrets. */
  fraction(): number;
}

const FRACTION_STEPS = 2 ** 48 - 1;

/** One call to the system's generator for some two hundred ids: each call costs more than the bytes do. */
const POOL_BYTES = 4096;

/** Strong bytes from a pool; each is handed out once and erased there. */
function createPool(): (count: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (count) => {
    if (count > POOL_BYTES) return randomFillSync(new Uint8Array(count));
    if (used + count > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = pool.slice(used, used + count);
    pool.fill(0, used, used + count);
    used += count;
    return bytes;
  };
}

export const systemRandom: Random = {
  bytes: createPool(),
  fraction: () => randomInt(FRACTION_STEPS) / FRACTION_STEPS,
};
