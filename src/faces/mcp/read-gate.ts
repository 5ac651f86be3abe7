import type { Principal } from '../../identity/principal.ts';
import type { Clock } from '../../kernel/clock.ts';
import { createTokenBuckets } from '../../kernel/token-bucket.ts';
import type { RpcFailure } from '../../runtime/surface.ts';
import { tooManyReads } from './failures.ts';
import type { RpcRequest } from './message.ts';

/** How many status reads of one principal are answered: evenly, and at once. */
export interface ReadRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Far above what a host needs that keeps to the hints: 32 open tasks, each read once a second. */
export const READ_RATE: ReadRate = { perSecond: 100, burst: 500 };

const KEYS_MAX = 10_000;
const READS: readonly string[] = ['tasks/get', 'tasks/list', 'tasks/result'];

/** Turns away status reads that come faster than anybody needs; the hint alone binds nobody (O1, G2-35). */
export interface ReadGate {
  /** Why this request is not answered now, if it is not. */
  refusal(
    principal: Principal,
    request: Pick<RpcRequest, 'method' | 'params'>,
  ): TooManyReads | undefined;
}

export interface TooManyReads {
  readonly failure: RpcFailure;
  /** Whole seconds, for `Retry-After`. */
  readonly retryAfterSeconds: number;
}

/** Those who cannot be told apart share no bucket: each of their tasks has one. */
const bucketOf = (principal: Principal, taskId: unknown): string =>
  principal.method === 'anonymous' ? `task ${String(taskId)}` : principal.key;

export function createReadGate(clock: Clock, rate: ReadRate): ReadGate {
  const buckets = createTokenBuckets({ ...rate, keysMax: KEYS_MAX, clock });
  return {
    refusal(principal, { method, params }) {
      if (!READS.includes(method)) return undefined;
      const taken = buckets.take(bucketOf(principal, params['taskId']));
      if (taken.ok) return undefined;
      const { retryAfterMs } = taken;
      return {
        failure: tooManyReads(retryAfterMs),
        retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      };
    },
  };
}
