import { createHmac } from 'node:crypto';
import type { Random } from '../kernel/random.ts';
import type { Confirmation } from './steps/context.ts';

/** 256 random bits: a token is looked up by its hash, so nothing about it can be found by trying. */
const TOKEN_BYTES = 32;
/** Longest text that is hashed for a lookup. */
const TOKEN_CHARS_MAX = 200;

/** A confirmation on its way into a page's address, and what the store keeps of it. */
export interface IssuedConfirmation {
  readonly confirmation: Confirmation;
  /** Keyed hash of the token: a copy of the records confirms nothing. */
  readonly hash: string;
}

/** Makes and recognizes what pages confirm with (URL mode, G1-61). */
export interface Confirmations {
  issue(): IssuedConfirmation;
  hashOf(token: string): string;
}

export interface ConfirmationsOptions {
  /** At least 32 random bytes that serve nothing else. */
  readonly key: Uint8Array;
  readonly random: Pick<Random, 'bytes'>;
  /** Where a page can confirm over HTTP; nothing where this process serves no HTTP. */
  readonly callbackUrl: () => string | undefined;
}

export function createConfirmations(options: ConfirmationsOptions): Confirmations {
  const { key, random, callbackUrl } = options;
  const hashOf = (token: string): string =>
    createHmac('sha256', key).update(token.slice(0, TOKEN_CHARS_MAX)).digest('base64url');
  return {
    hashOf,
    issue() {
      const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
      const url = callbackUrl();
      const confirmation = url === undefined ? { token } : { token, callbackUrl: url };
      return { confirmation, hash: hashOf(token) };
    },
  };
}
