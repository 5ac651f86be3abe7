import { createHmac, hkdfSync } from 'node:crypto';
import { canonicalJson, type Json } from '../kernel/json.ts';

/** Names the rule by which keys are hashed. */
const VERSION = 'k1';

/**
 * What a key is good for: one principal's calls of one tool of one upstream. The tool is named as its upstream names
 * it, so that another prefix in front of it makes no other effect.
 */
export interface KeyScope {
  readonly owner: string;
  readonly upstream: string;
  readonly tool: string;
}

/** A key by where it comes from: what a caller chose never meets what was derived from arguments. */
export interface IdempotencyKey {
  readonly source: 'caller' | 'derived';
  readonly value: Json;
}

/** What is stored of a key. */
export type HashKey = (scope: KeyScope, key: IdempotencyKey) => string;

/**
 * HMAC-SHA256 over scope and key: keys may be guessable, and what they name is nobody else's to know.
 * `key`: at least 32 random bytes of this installation.
 */
export function createHashKey(key: Uint8Array): HashKey {
  const secret = new Uint8Array(hkdfSync('sha256', key, 'longcall-idempotency-key', '', 32));
  return ({ owner, upstream, tool }, { source, value }) => {
    const text = canonicalJson([owner, upstream, tool, source, value], 'as-printed');
    return `${VERSION}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
}
