import { join } from 'node:path';
import { endOrphans } from '../gateway/process-notes.ts';
import { ensureEngineSecret, ensureSigningKey, ensureToken } from '../identity/data-secrets.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import type { BlobStore } from '../stores/artifacts.ts';
import { openFileBlobStore } from '../stores/files/blob-store.ts';
import { createSqliteStore } from '../stores/sqlite/store.ts';
import type { Store } from '../stores/store.ts';
import { deriveKeys, type DerivedKeys } from './keys.ts';

export const STORE_FILE = 'longcall.db';
const CHILDREN_FILE = 'children.json';
const ARTIFACTS_FOLDER = 'artifacts';

export interface DataHomeOptions {
  /** The data directory, locked by this process. */
  readonly directory: string;
  /** Whether the local token is to be there. */
  readonly localUser: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What a data directory holds for a running gateway. */
export interface DataHome {
  readonly store: Store;
  /** Content of artifacts. */
  readonly blobs: BlobStore;
  readonly keys: DerivedKeys;
  readonly adminToken: string;
  /** Proves to windows and engine that the other may read the directory. */
  readonly engineSecret: Uint8Array;
  readonly localToken?: string;
  /** Where the gateway notes the processes of its upstreams. */
  readonly childrenFile: string;
}

/** Takes over a data directory: ends what a dead gateway left running there, then opens what it has written. */
export async function openDataHome(options: DataHomeOptions): Promise<DataHome> {
  const { directory, localUser, clock, random, logger } = options;
  const childrenFile = join(directory, CHILDREN_FILE);
  const orphans = await endOrphans(childrenFile, clock);
  if (orphans > 0) logger.warn('upstream.orphans_ended', { orphans });
  const secrets = { directory, random };
  const keys = deriveKeys(ensureSigningKey(secrets));
  const adminToken = ensureToken('adminToken', secrets);
  const localToken = localUser ? { localToken: ensureToken('localToken', secrets) } : {};
  const engineSecret = ensureEngineSecret(secrets);
  const blobs = await openFileBlobStore({ directory: join(directory, ARTIFACTS_FOLDER) });
  const store = await createSqliteStore({ path: join(directory, STORE_FILE), clock, random });
  return { store, blobs, keys, adminToken, engineSecret, childrenFile, ...localToken };
}
