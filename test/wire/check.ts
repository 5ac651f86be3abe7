import { patienceMs } from './channel.ts';
import type { Endpoint } from './client.ts';
import type { EffectLine } from '../fixtures/upstreams/effects-log.ts';

/** A server under test, with two people of two tenants. */
export interface WireTarget {
  readonly url: string;
  readonly alice: Endpoint;
  readonly bob: Endpoint;
  /** The same server for callers without a token, where it serves any. */
  readonly anonymous: Endpoint | undefined;
  /** How many tasks it takes until `tasks/list` needs a second page. */
  readonly listPageSize: number;
  /** What the tools did for this tag. */
  effects(tag: string): readonly EffectLine[];
}

/** What a check found. `untested`: this target gives no occasion, for the reason named. */
export type Verdict =
  { readonly verdict: 'pass' } | { readonly verdict: 'fail' | 'untested'; readonly reason: string };

/** One demand on the wire, runnable against any target. */
export interface WireCheck {
  readonly id: string;
  /** Ids of requirements.tsv and of the readings (`T…`). */
  readonly requirements: readonly string[];
  readonly title: string;
  run(target: WireTarget): Promise<Verdict>;
}

class Untested extends Error {}

/** Makes a check of a body that throws where the target falls short. */
export function defineCheck(
  facts: Omit<WireCheck, 'run'>,
  body: (target: WireTarget) => Promise<void>,
): WireCheck {
  return {
    ...facts,
    async run(target) {
      try {
        await body(target);
        return { verdict: 'pass' };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { verdict: error instanceof Untested ? 'untested' : 'fail', reason };
      }
    },
  };
}

/** Fails the check unless the condition holds. */
export function must(condition: unknown, reason: string): asserts condition {
  if (!condition) throw new Error(reason);
}

/** Fails the check unless both are the same JSON. */
export function mustEqual(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  must(is === should, `${what} is ${is}, not ${should}`);
}

/** Says that this target gives the check no occasion. */
export function untested(reason: string): never {
  throw new Untested(reason);
}

const LOOK_AGAIN_MS = 50;

/** Looks again and again until something is there; fails the check when patience ends. */
export async function eventually<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: string,
): Promise<T> {
  const end = Date.now() + patienceMs();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    must(Date.now() < end, `waited in vain for ${what}`);
    await after(LOOK_AGAIN_MS);
  }
}

/** Resolves after a time in which nothing is meant to happen. */
export const after = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms));

let tags = 0;

/** A label that no other call uses, for the effects log. */
export const newTag = (name: string): string => `${name}-${process.pid}-${(tags += 1)}`;
