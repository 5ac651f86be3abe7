import { createHash } from 'node:crypto';
import { canonicalJson } from '../kernel/json.ts';

/** How we know who asks. */
export const IDENTITY_METHODS = ['local', 'token', 'anonymous'] as const;
export type IdentityMethod = (typeof IDENTITY_METHODS)[number];

/** Who asks. `key` is the binding: issuer, tenant, subject (and client for service tokens), never a session or token. */
export interface Principal {
  readonly key: string;
  readonly issuer: string;
  readonly tenant: string;
  readonly subject: string;
  readonly client?: string;
  readonly method: IdentityMethod;
  readonly scopes: readonly string[];
  /** ms since the epoch; after it the credential says nothing any more. */
  readonly expiresAt?: number;
}

/** The binding key of a principal: the same person under a new token or session has the same one (T12). */
export function principalKey(
  who: Pick<Principal, 'issuer' | 'tenant' | 'subject' | 'client'>,
): string {
  const identity = {
    issuer: who.issuer,
    tenant: who.tenant,
    subject: who.subject,
    client: who.client,
  };
  return `prn_${createHash('sha256').update(canonicalJson(identity)).digest('base64url').slice(0, 27)}`;
}

export function createPrincipal(who: Omit<Principal, 'key'>): Principal {
  return { ...who, key: principalKey(who) };
}

export const LOCAL_ISSUER = 'longcall:local';

/** The user of this machine: stdio, and the local token of the data directory, are the same person (decision 3). */
export const localPrincipal = (): Principal =>
  createPrincipal({
    issuer: LOCAL_ISSUER,
    tenant: 'local',
    subject: 'local',
    method: 'local',
    scopes: ['*'],
  });

/** Nobody in particular. All anonymous callers share it; the unguessable id is what keeps them apart (decision 3). */
export const anonymousPrincipal = (): Principal =>
  createPrincipal({
    issuer: LOCAL_ISSUER,
    tenant: 'anonymous',
    subject: 'anonymous',
    method: 'anonymous',
    scopes: [],
  });

/** Whether the caller can be told from others: without it no listing and no implicit deduplication. */
export const isIdentified = (principal: Principal): boolean => principal.method !== 'anonymous';
