/** Choices that a seed decides, so that a run can be played again. */
export interface SeededRandom {
  /** An integer from 0 to `below` - 1. */
  below(limit: number): number;
  /** True in this part of all cases. */
  chance(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
  pick<T>(choices: readonly T[]): T;
  bytes(count: number): Buffer;
}

/** Spreads the bits of two numbers, so that neighbouring inputs have nothing in common. */
function mix(seed: number, index: number): number {
  let bits = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(index + 1, 0xc2b2_ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0_aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a_2d97);
  return (bits ^ (bits >>> 15)) >>> 0;
}

/** The choices for one input: they depend on the seed and on its number, and on nothing that came before. */
export function createSeededRandom(seed: number, index: number): SeededRandom {
  let state = mix(seed, index);
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  return {
    below,
    chance: (probability) => next() / 2 ** 32 < probability,
    pick: <T>(choices: readonly T[]): T => {
      const chosen = choices[below(choices.length)];
      if (choices.length === 0) throw new Error('there is nothing to pick from');
      return chosen as T;
    },
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
  };
}

/** The seed of this run: `FUZZ_SEED` where one is given, so that a failure can be replayed. */
export function seedOfRun(): number {
  const given = Number(process.env['FUZZ_SEED'] ?? '');
  return Number.isSafeInteger(given) && given > 0 ? given : Date.now() % 2 ** 31;
}
