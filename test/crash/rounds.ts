export const IS_LONG = process.env['LONGCALL_TEST_LONG'] === '1';

/** How often each row is played where a death holds one call: every moment has at least three rows. */
export const ROUNDS_ALONE = IS_LONG ? 10 : 1;
/** How often each death is played that holds all calls at once. */
export const ROUNDS_TOGETHER = IS_LONG ? 10 : 3;

/** Time for a test of so many deaths, on a machine with other things to do. */
export const testMsFor = (rounds: number): number => 60_000 + rounds * 40_000;
