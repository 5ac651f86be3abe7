import { createHmac, hkdfSync } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../kernel/json.ts';

/** Names the rule by which a fingerprint was made, so that a later rule never compares with it by mistake. */
const VERSION = 'f1';

export interface Fingerprinted {
  readonly tenant: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** Tells calls with the same meaning from others, without keeping what they said. */
export type Fingerprint = (call: Fingerprinted) => string;

/**
 * HMAC-SHA256 over the canonical JSON of tool and arguments, under a key of its own for each tenant: equal arguments
 * of two tenants have unequal fingerprints. The envelope (request id, `_meta`) is no part of it (D3).
 * `key`: at least 32 random bytes of this installation.
 */
export function createFingerprint(key: Uint8Array): Fingerprint {
  const keyOf = (tenant: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', key, 'longcall-fingerprint', tenant, 32));
  return ({ tenant, tool, arguments: args }) => {
    const text = canonicalJson({ tool, arguments: args }, 'as-printed');
    return `${VERSION}.${createHmac('sha256', keyOf(tenant)).update(text).digest('base64url')}`;
  };
}
