import type { Random } from './random.ts';

/** Exponential growth with full jitter. All times in ms. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly factor: number;
}

/** The ceiling before jitter for the n-th failure (n from 0). */
export function backoffCeilingMs(backoff: Backoff, failures: number): number {
  return Math.min(backoff.maxMs, backoff.firstMs * backoff.factor ** Math.min(failures, 64));
}

/** A wait for the n-th failure: between half of the ceiling and the ceiling, so that peers do not come in step. */
export function backoffMs(backoff: Backoff, failures: number, random: Random): number {
  const ceilingMs = backoffCeilingMs(backoff, failures);
  return Math.round(ceilingMs / 2 + (random.fraction() * ceilingMs) / 2);
}
