import type { Clock } from './clock.ts';

export interface TokenBucketOptions {
  /** Tokens that come back in a second. */
  readonly perSecond: number;
  /** Tokens of a full bucket: how much may come at once. */
  readonly burst: number;
  /** Most buckets that are remembered; the one that was used longest ago is forgotten, which fills it. */
  readonly keysMax: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Lets through what comes evenly, and a burst. */
export interface TokenBuckets {
  /** Takes a token from that bucket; otherwise says in how many ms the next one is there, at least 1. */
  take(key: string): { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };
}

interface Bucket {
  tokens: number;
  at: number;
}

export function createTokenBuckets(options: TokenBucketOptions): TokenBuckets {
  const { perSecond, burst, keysMax, clock } = options;
  const buckets = new Map<string, Bucket>();
  const filled = (key: string): Bucket => {
    const now = clock.monotonic();
    const { tokens, at } = buckets.get(key) ?? { tokens: burst, at: now };
    return { tokens: Math.min(burst, tokens + ((now - at) / 1000) * perSecond), at: now };
  };
  const remember = (key: string, bucket: Bucket): void => {
    buckets.delete(key); // the order of the map is the order of use
    buckets.set(key, bucket);
    const [oldest] = buckets.keys();
    if (buckets.size > keysMax && oldest !== undefined) buckets.delete(oldest);
  };
  return {
    take(key) {
      const bucket = filled(key);
      const has = bucket.tokens >= 1;
      remember(key, has ? { ...bucket, tokens: bucket.tokens - 1 } : bucket);
      if (has) return { ok: true };
      const missingMs = ((1 - bucket.tokens) / perSecond) * 1000;
      return { ok: false, retryAfterMs: Math.max(1, Math.ceil(missingMs)) };
    },
  };
}
