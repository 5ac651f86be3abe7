import { createHmac, hkdfSync } from 'node:crypto';
import { createSealer, type Sealer } from '../kernel/seal.ts';

const KEY_BYTES = 32;
/** Enough to tell ids apart in a log, and one-way. */
const HASH_CHARS = 16;

/** What is made from the signing key of an installation; each use has a key of its own. */
export interface DerivedKeys {
  readonly sealer: Sealer;
  readonly fingerprintKey: Uint8Array;
  /** Stands for an id that doubles as a secret, in logs and audit. */
  readonly hashId: (id: string) => string;
}

export function deriveKeys(signingKey: Uint8Array): DerivedKeys {
  const keyFor = (use: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', signingKey, 'longcall', use, KEY_BYTES));
  const idKey = keyFor('id-in-logs');
  return {
    sealer: createSealer(keyFor('seal')),
    fingerprintKey: keyFor('fingerprint'),
    hashId: (id) =>
      `hid_${createHmac('sha256', idKey).update(id).digest('base64url').slice(0, HASH_CHARS)}`,
  };
}
