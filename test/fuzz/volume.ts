const IS_LONG = process.env['LONGCALL_TEST_LONG'] === '1';

/** Inputs of each kind: 110,000 in the long run, a tenth of that on every change. */
const VOLUMES = {
  http2025: 34_000,
  http2026: 34_000,
  admin: 12_000,
  stdio2025: 15_000,
  stdio2026: 15_000,
} as const;

/** How many inputs of a kind this run makes. */
export const volumeOf = (kind: keyof typeof VOLUMES): number =>
  IS_LONG ? VOLUMES[kind] : VOLUMES[kind] / 10;

/** Time for a whole test. */
export const FUZZ_MS_MAX = IS_LONG ? 1_800_000 : 180_000;
