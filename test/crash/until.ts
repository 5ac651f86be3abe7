import { setTimeout as pause } from 'node:timers/promises';

const LOOK_AGAIN_MS = 25;

/** Looks at another process again and again until there is something to see. Rejects after `patienceMs`. */
export async function until<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: string,
  patienceMs = 20_000,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() - began > patienceMs)
      throw new Error(`waited ${patienceMs} ms for ${what}`);
    await pause(LOOK_AGAIN_MS);
  }
}

/** The same for a condition. */
export const untilTrue = (
  holds: () => Promise<boolean> | boolean,
  what: string,
  patienceMs?: number,
): Promise<true> =>
  until(async () => ((await holds()) ? (true as const) : undefined), what, patienceMs);
