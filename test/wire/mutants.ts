import type { WireTarget } from './check.ts';
import { MUTANTS_2025 } from './mutants/mutants-2025.ts';
import { MUTANTS_2026 } from './mutants/mutants-2026.ts';
import type { Mutant, Mutation } from './mutants/mutation.ts';
import { OFFICIAL_MUTANTS } from './mutants/official.ts';
import { startMutatingProxy } from './mutants/proxy.ts';

export { OFFICIAL_MUTANTS };

/** Every mutant: the ten that the official suite lets pass, then one for each other check. */
export const MUTANTS: readonly Mutant[] = [...OFFICIAL_MUTANTS, ...MUTANTS_2025, ...MUTANTS_2026];

/** A target whose answers go through a proxy with one mistake, or with none. */
export interface MutatedTarget extends WireTarget {
  stop(): Promise<void>;
}

/** Puts a mutating proxy in front of a target, for every one of its callers. */
export async function mutateTarget(
  target: WireTarget,
  mutation?: Mutation,
): Promise<MutatedTarget> {
  const proxy = await startMutatingProxy(target.url, mutation);
  const { anonymous } = target;
  // Anonymous callers may have a server of their own; what they see must be mutated alike.
  const own =
    anonymous && anonymous.url !== target.url
      ? await startMutatingProxy(anonymous.url, mutation)
      : undefined;
  return {
    ...target,
    url: proxy.url,
    alice: { ...target.alice, url: proxy.url },
    bob: { ...target.bob, url: proxy.url },
    anonymous: anonymous && { ...anonymous, url: own?.url ?? proxy.url },
    async stop() {
      await Promise.all([proxy.stop(), own?.stop()]);
    },
  };
}
