import { makeHttpInput } from './http-inputs.ts';
import type { Door } from './http-inputs.ts';
import { exchange } from './raw-http.ts';
import type { Exchange } from './raw-http.ts';
import { createSeededRandom } from './seeded-random.ts';
import { problemWith } from './verdict.ts';

const AT_ONCE = 16;
/** The server's own patience with heads that do not come is 10 s, looked at every 2 s. */
const PATIENCE_MS = 25_000;

export interface HttpRun {
  readonly port: number;
  readonly door: Door;
  readonly seed: number;
  /** Numbers of the inputs: from `first`, so many. */
  readonly first: number;
  readonly count: number;
  readonly codeType: 'number' | 'string';
  /** Called with each exchange, for what has to be cleared away after it. */
  onExchange?(result: Exchange): Promise<void>;
}

/** Sends so many inputs, and names the first that was dealt with wrongly. */
export async function driveHttp(run: HttpRun): Promise<void> {
  const only = Number(process.env['FUZZ_ONLY'] ?? Number.NaN);
  let next = run.first;
  const end = run.first + run.count;
  const work = async (): Promise<void> => {
    while (next < end) {
      const index = next;
      next += 1;
      if (Number.isNaN(only) || only === index) await throwOne(run, index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function throwOne(run: HttpRun, index: number): Promise<void> {
  const { seed, port, door, codeType } = run;
  const input = makeHttpInput(door, createSeededRandom(seed, index));
  const { bytes, then, answers, framing } = input;
  const result = await exchange({ port, bytes, then, answers, patienceMs: PATIENCE_MS });
  await run.onExchange?.(result);
  // What vanishes is not there to be answered.
  const problem = then === 'vanish' ? undefined : problemWith(result, { framing, codeType });
  if (problem === undefined) return;
  const replay = `FUZZ_SEED=${seed} FUZZ_ONLY=${index}`;
  throw new Error(
    `input ${index} (${input.what}; ${replay}): ${problem}\n${bytes.subarray(0, 2_000).toString('latin1')}`,
  );
}
