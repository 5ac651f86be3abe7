import { mayOn, type Ownership, type Verb } from './permissions.ts';
import { anonymousPrincipal, localPrincipal, type Principal } from './principal.ts';
import { principalOf, type TokenSource } from './static-token.ts';

/**
 * Whether the owner of a record may still do this, asked while nobody is there to show a credential: what was granted
 * and was taken back since counts (decision 2). A token that has only run out takes nothing back: its owner answers for
 * the record with the next one.
 */
export type MayStill = (verb: Verb, record: Ownership) => boolean;

export interface StandingOptions {
  readonly tokens: TokenSource;
  readonly allowAnonymous: boolean;
}

export function createMayStill({ tokens, allowAnonymous }: StandingOptions): MayStill {
  const anonymous = anonymousPrincipal();
  const local = localPrincipal();
  const known = (): readonly Principal[] => [
    local,
    ...(allowAnonymous ? [anonymous] : []),
    ...tokens.current().map(principalOf),
  ];
  return (verb, record) => known().some((principal) => mayOn(principal, verb, record));
}
