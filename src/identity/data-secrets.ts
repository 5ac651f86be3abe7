import { join } from 'node:path';
import { LongcallError } from '../kernel/errors.ts';
import type { Random } from '../kernel/random.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

/** The secrets of a data directory, each in a file of its own with mode 0600. */
export const SECRET_FILES = {
  /** Bearer token of the user of this machine. */
  localToken: 'local-token',
  /** Bearer token of the operators' API. */
  adminToken: 'admin-token',
  /** 32 bytes that sign what callers carry for us. */
  signingKey: 'signing-key',
  /** 32 bytes by which fronts and the background engine know each other, and that key digests of environments. */
  engineSecret: 'engine-secret',
} as const;

const SECRET_BYTES = 32;
/** A token made by us has 43 characters after its prefix; one that a person put there must be long enough too. */
const TOKEN_FORM = /^[A-Za-z0-9\-._~+/]{32,512}=*$/;

export interface DataSecretOptions {
  /** The data directory, already there and locked by this process. */
  readonly directory: string;
  readonly random: Random;
}

/** The token of that file, made at the first start. */
export function ensureToken(
  file: 'localToken' | 'adminToken',
  { directory, random }: DataSecretOptions,
): string {
  const path = join(directory, SECRET_FILES[file]);
  const kept = readPrivateFile(path)?.toString('utf8').trim();
  if (kept !== undefined) return TOKEN_FORM.test(kept) ? kept : damaged(path);
  const made = `lct_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')}`;
  writePrivateFile(path, `${made}\n`);
  return made;
}

/** The key that signs cursors and carried state, made at the first start. */
export const ensureSigningKey = (options: DataSecretOptions): Uint8Array =>
  ensureKey('signingKey', options);

/** What proves to fronts and engine that the other one may read the data directory, made at the first start. */
export const ensureEngineSecret = (options: DataSecretOptions): Uint8Array =>
  ensureKey('engineSecret', options);

/** The same for a front, which makes none; nothing where there is none yet. */
export function readEngineSecret(directory: string): Uint8Array | undefined {
  const path = join(directory, SECRET_FILES.engineSecret);
  const kept = readPrivateFile(path);
  if (kept && kept.length !== SECRET_BYTES) return damaged(path);
  return kept;
}

function ensureKey(
  file: 'signingKey' | 'engineSecret',
  { directory, random }: DataSecretOptions,
): Uint8Array {
  const path = join(directory, SECRET_FILES[file]);
  const kept = readPrivateFile(path);
  if (kept) return kept.length === SECRET_BYTES ? kept : damaged(path);
  const made = random.bytes(SECRET_BYTES);
  writePrivateFile(path, made);
  return made;
}

function damaged(path: string): never {
  throw new LongcallError(
    'LONGCALL_DATA_UNUSABLE',
    `${path} does not hold what longcall put there`,
    {
      hint: 'restore it, or remove it to have a new one made (what was given out with the old one then ends)',
    },
  );
}
