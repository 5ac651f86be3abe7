import type { RepeatedBy } from './receiver.ts';

/** What calls are counted by: names of upstreams and tools, never an id. */
export interface CallLabels {
  readonly upstream: string;
  readonly tool: string;
}

/** Of a call that was recognized as made before: what it was recognized by. */
export interface RepeatLabels extends CallLabels {
  readonly by: RepeatedBy;
}

/** Of a call that found no room: the limit that it met. */
export interface RefusalLabels extends CallLabels {
  readonly reason: string;
}

/** Counts calls since the start of this process. */
export interface CallMeter<Labels extends CallLabels> {
  add(labels: Labels): void;
  counts(): readonly (Labels & { readonly count: number })[];
}

export function createCallMeter<Labels extends CallLabels>(): CallMeter<Labels> {
  const seen = new Map<string, Labels & { readonly count: number }>();
  return {
    add(labels) {
      const key = JSON.stringify(labels);
      const { count } = seen.get(key) ?? { count: 0 };
      seen.set(key, { ...labels, count: count + 1 });
    },
    counts: () => Array.from(seen.values()),
  };
}
