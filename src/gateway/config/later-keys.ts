import type { ConfigPath } from './problems.ts';

/**
 * Keys of the whole configuration that this version does not serve. They are refused by name: a key that is accepted
 * and ignored would be a promise. `*` stands for any name.
 */
const LATER_KEYS: readonly (readonly string[])[] = [
  ['identity', 'oauth'],
  ['upstreams', '*', 'tools', '*', 'object'],
  ['upstreams', '*', 'tools', '*', 'reconcile'],
  ['upstreams', '*', 'tools', '*', 'confirmedBy'],
];

/** Whether a later version serves that key. */
export function isLaterKey(path: ConfigPath): boolean {
  return LATER_KEYS.some(
    (known) =>
      known.length === path.length && known.every((step, at) => step === '*' || step === path[at]),
  );
}
