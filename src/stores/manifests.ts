import type { JsonObject } from '../kernel/json.ts';

/** The last evidence of what an upstream can do, so that `initialize` and discovery answer at once after a start. */
export interface StoredManifest {
  readonly upstream: string;
  readonly takenAt: number;
  readonly document: JsonObject;
}

export interface ManifestStore {
  put(manifest: StoredManifest): Promise<void>;
  get(upstream: string): Promise<StoredManifest | undefined>;
}
