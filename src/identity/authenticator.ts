import type { IncomingMessage } from 'node:http';
import type { Principal } from './principal.ts';

export type Authentication =
  | { readonly kind: 'principal'; readonly principal: Principal }
  /** Answered with HTTP 401 and a challenge, before anything is looked up (G1-107). */
  | { readonly kind: 'denied'; readonly reason: 'missing' | 'malformed' | 'unknown' | 'expired' };

/** Turns what a request carries into who asks. Asked anew with every HTTP request. */
export interface Authenticator {
  /** `authorization`: the header's value, if there was one. `request`: what it came with, where more counts than that. */
  authenticate(authorization: string | undefined, request?: IncomingMessage): Authentication;
  /** Whether callers without a token are taken as the anonymous principal. */
  readonly allowsAnonymous: boolean;
}
