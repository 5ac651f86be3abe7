import type { JsonObject } from '../../../kernel/json.ts';

/** Lets through only progress that grows (G1-142, G2-168): a peer's repetitions and steps back end here. */
export interface ProgressMeter {
  admits(params: JsonObject): boolean;
}

export function createProgressMeter(): ProgressMeter {
  let last = Number.NEGATIVE_INFINITY;
  return {
    admits({ progress }) {
      if (typeof progress !== 'number' || !(progress > last)) return false;
      last = progress;
      return true;
    },
  };
}
