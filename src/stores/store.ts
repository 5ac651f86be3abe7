import type { AttemptStore } from './attempts.ts';
import type { ArtifactStore } from './artifacts.ts';
import type { EventStore } from './events.ts';
import type { InputStore } from './inputs.ts';
import type { JournalStore } from './journal.ts';
import type { ManifestStore } from './manifests.ts';
import type { OperationStore } from './operations.ts';
import type { TaskStore } from './tasks.ts';

/** Everything durable, one port per aggregate over the same records. No transaction leaves a port. */
export interface Store {
  readonly tasks: TaskStore;
  readonly attempts: AttemptStore;
  readonly inputs: InputStore;
  readonly operations: OperationStore;
  readonly journal: JournalStore;
  readonly artifacts: ArtifactStore;
  readonly events: EventStore;
  readonly manifests: ManifestStore;
  /** The store's time in ms since the epoch: what leases and expiry are compared with (decision 16). */
  now(): number;
  /** Facts for `doctor`: kind, schema version, integrity. */
  check(): Promise<StoreHealth>;
  /** Waits for writes under way, then closes. Later calls answer LONGCALL_STORE_CLOSED. */
  close(): Promise<void>;
}

export interface StoreHealth {
  readonly kind: string;
  readonly schemaVersion: number;
  readonly ok: boolean;
  readonly detail: string;
}
