import type { Access } from './access.ts';

/** Bytes that are too large for a message, kept beside the store. Times are ms since the epoch by the store's clock. */
export interface Artifact {
  readonly id: string;
  readonly owner: string;
  readonly tenant: string;
  /** The task that made it; it may outlive that task's record. */
  readonly taskId?: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export type NewArtifact = Omit<Artifact, 'createdAt' | 'expiresAt'> & { readonly keepMs: number };

/** The least that an artifact counts for: what its file takes up, so that many small ones are bounded as well. */
export const ARTIFACT_BYTES_MIN = 4096;

/** Most bytes of artifacts that are kept, checked inside the transaction. */
export interface ArtifactLimits {
  readonly perPrincipalBytes: number;
  readonly perTenantBytes: number;
  readonly totalBytes: number;
}

export type AddedArtifact =
  | { readonly kind: 'added'; readonly artifact: Artifact }
  /** `bytes`: what is kept under that limit now. */
  | { readonly kind: 'full'; readonly limit: keyof ArtifactLimits; readonly bytes: number };

/** What is known of artifacts; their content is in a BlobStore. A foreign or expired one looks unknown. */
export interface ArtifactStore {
  add(artifact: NewArtifact, limits: ArtifactLimits): Promise<AddedArtifact>;
  get(access: Access, artifactId: string): Promise<Artifact | undefined>;
  /** The same, and it stays until that time at least: somebody needs it until then. */
  prolong(access: Access, artifactId: string, until: number): Promise<Artifact | undefined>;
  /** Newest first; at most 200. */
  list(access: Access, limit: number): Promise<readonly Artifact[]>;
  /** Deletes up to `limit` expired rows and says which, so that their content can be removed. */
  sweepExpired(limit: number): Promise<readonly string[]>;
  /** Those of one task, oldest first; at most 200. */
  ofTask(access: Access, taskId: string): Promise<readonly Artifact[]>;
  /** Which of these ids have a row: content without one was left by a death and goes. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Ids in their order, after that one; at most 200. A row whose content is gone goes too. */
  idsAfter(after: string | undefined, limit: number): Promise<readonly string[]>;
  remove(ids: readonly string[]): Promise<void>;
  /** All that is kept, also what has expired and was not swept yet. */
  usage(): Promise<ArtifactUsage>;
}

export interface ArtifactUsage {
  readonly count: number;
  readonly bytes: number;
}

/**
 * Content of artifacts, by id. Files under the data directory, or an object store. Every method takes ids of artifacts
 * only, and refuses what has not their form.
 */
export interface BlobStore {
  /**
   * Durable and whole when it resolves; when it rejects, nothing of it can be read. Refuses an id that is there. Rejects
   * with LONGCALL_STORE_FULL or LONGCALL_STORE_FAILED.
   */
  put(id: string, content: Uint8Array): Promise<void>;
  /** The bytes from `start` to `end` inclusive; nothing where there is no such content. */
  read(
    id: string,
    range?: { readonly start: number; readonly end: number },
  ): Promise<AsyncIterable<Uint8Array> | undefined>;
  remove(id: string): Promise<void>;
  /** Every id that is there, for cleaning up. */
  ids(): AsyncIterable<string>;
}
