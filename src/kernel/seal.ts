import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { isJsonObject, type JsonObject } from './json.ts';

/**
 * Signs small pieces of state that a caller carries for us (cursors, `requestState`): integrity, purpose and expiry,
 * no secrecy. Everything that comes back is attacker-controlled until `open` has accepted it (G2-64, G2-65).
 */
export interface Sealer {
  /** `purpose` separates kinds: what was sealed for one never opens for another. `expiresAt` in ms since the epoch. */
  seal(purpose: string, payload: JsonObject, expiresAt?: number): string;
  /** The payload, or nothing where the text was altered, is of another purpose, or is past its time. */
  open(purpose: string, text: string, now: number): JsonObject | undefined;
}

const SEALED_CHARS_MAX = 16_384;

function signature(key: Uint8Array, body: string): Buffer {
  return createHmac('sha256', key).update(body).digest();
}

function parseBody(body: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** `key`: at least 32 random bytes of this installation. */
export function createSealer(key: Uint8Array): Sealer {
  const keyFor = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', key, 'longcall-seal', purpose, 32));
  const keys = new Map<string, Uint8Array>();
  const cachedKey = (purpose: string): Uint8Array => {
    const known = keys.get(purpose) ?? keyFor(purpose);
    keys.set(purpose, known);
    return known;
  };
  return {
    seal(purpose, payload, expiresAt) {
      const body = Buffer.from(JSON.stringify({ p: payload, e: expiresAt })).toString('base64url');
      return `${body}.${signature(cachedKey(purpose), body).toString('base64url')}`;
    },
    open(purpose, text, now) {
      if (text.length > SEALED_CHARS_MAX) return undefined;
      const [body = '', mac = '', ...rest] = text.split('.');
      const given = Buffer.from(mac, 'base64url');
      const wanted = signature(cachedKey(purpose), body);
      // Unused bits of the last character would give the same bytes a second spelling.
      const isCanonical = given.toString('base64url') === mac && rest.length === 0;
      if (!isCanonical || given.length !== wanted.length || !timingSafeEqual(given, wanted))
        return undefined;
      const sealed = parseBody(body);
      const expiry = sealed?.['e'];
      if (typeof expiry === 'number' && expiry <= now) return undefined;
      const payload = sealed?.['p'];
      return isJsonObject(payload) ? payload : undefined;
    },
  };
}
