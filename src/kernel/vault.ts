import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { isJsonObject, type JsonObject } from './json.ts';
import type { Random } from './random.ts';

/**
 * Encrypts what must not be readable in a copy of the records (AES-256-GCM). `boundTo` is authenticated with it: what
 * was sealed for one place opens nowhere else. Nothing about the value can be told from the text but its length.
 */
export interface Vault {
  seal(value: JsonObject, boundTo: string): string;
  /** The value, or nothing where the text was altered, is of another place, or of another installation. */
  open(text: string, boundTo: string): JsonObject | undefined;
}

const CIPHER = 'aes-256-gcm';
/** Names the format, so that a later one can be told from it. */
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const KEY_BYTES = 32;

/** A key of its own for one use, from one of at least 32 random bytes (HKDF). */
export const subkey = (key: Uint8Array, use: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', key, 'longcall-subkey', use, KEY_BYTES));

/** `key`: 32 bytes that serve nothing else. */
export function createVault(key: Uint8Array, random: Pick<Random, 'bytes'>): Vault {
  return {
    seal(value, boundTo) {
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(`${VERSION}\n${boundTo}`));
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      const sealed = Buffer.concat([nonce, cipher.getAuthTag(), text]);
      return `${VERSION}.${sealed.toString('base64url')}`;
    },
    open(text, boundTo) {
      const [version, body = '', ...rest] = text.split('.');
      const sealed = Buffer.from(body, 'base64url');
      if (version !== VERSION || rest.length > 0 || sealed.length < NONCE_BYTES + TAG_BYTES)
        return undefined;
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(`${VERSION}\n${boundTo}`));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return decrypted(decipher, sealed.subarray(NONCE_BYTES + TAG_BYTES));
    },
  };
}

function decrypted(
  decipher: ReturnType<typeof createDecipheriv>,
  text: Buffer,
): JsonObject | undefined {
  try {
    const plain = Buffer.concat([decipher.update(text), decipher.final()]);
    const value: unknown = JSON.parse(plain.toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // the tag does not fit
  }
}
