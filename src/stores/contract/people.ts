/** Two principals in two tenants, and the mixtures of them that must get nothing. */
export interface Person {
  readonly owner: string;
  readonly tenant: string;
}

export const ALICE: Person = { owner: 'prn_alice', tenant: 'north' };
export const BOB: Person = { owner: 'prn_bob', tenant: 'south' };

/** Everyone that may not touch what is Alice's. */
export const STRANGERS: readonly (readonly [who: string, access: Person])[] = [
  ['another principal of another tenant', BOB],
  ['another principal of the same tenant', { owner: BOB.owner, tenant: ALICE.tenant }],
  ['the same key in another tenant', { owner: ALICE.owner, tenant: BOB.tenant }],
];
