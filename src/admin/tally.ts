import type { Sample } from './exposition.ts';

type Labels = Readonly<Record<string, string>>;

/** Counts by label values. Series appear with their first count. */
export interface Tally {
  add(labels: Labels): void;
  samples(): readonly Sample[];
}

const keyOf = (labels: Labels): string => JSON.stringify(Object.values(labels));

export function createTally(): Tally {
  const counts = new Map<string, { labels: Labels; value: number }>();
  return {
    add(labels) {
      const known = counts.get(keyOf(labels));
      if (known) known.value += 1;
      else counts.set(keyOf(labels), { labels, value: 1 });
    },
    samples: () => Array.from(counts.values(), ({ labels, value }) => ({ labels, value })),
  };
}

/** Sorts observations into cumulative buckets, by label values. */
export interface Histogram {
  observe(labels: Labels, value: number): void;
  samples(): readonly Sample[];
}

interface Distribution {
  readonly labels: Labels;
  readonly atMost: number[];
  sum: number;
  count: number;
}

function distributionSamples(bounds: readonly number[], found: Distribution): readonly Sample[] {
  const { labels, atMost, sum, count } = found;
  const bucket = (le: string, value: number): Sample => ({
    suffix: '_bucket',
    labels: { ...labels, le },
    value,
  });
  return [
    ...bounds.map((bound, place) => bucket(String(bound), atMost[place] ?? 0)),
    bucket('+Inf', count),
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ];
}

/** `bounds`: upper limits, growing. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const found = new Map<string, Distribution>();
  const of = (labels: Labels): Distribution => {
    const known = found.get(keyOf(labels));
    if (known) return known;
    const fresh = { labels, atMost: bounds.map(() => 0), sum: 0, count: 0 };
    found.set(keyOf(labels), fresh);
    return fresh;
  };
  return {
    observe(labels, value) {
      const distribution = of(labels);
      bounds.forEach((bound, place) => {
        if (value <= bound) distribution.atMost[place] = (distribution.atMost[place] ?? 0) + 1;
      });
      distribution.sum += value;
      distribution.count += 1;
    },
    samples: () => Array.from(found.values()).flatMap((one) => distributionSamples(bounds, one)),
  };
}
