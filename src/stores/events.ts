/** One thing that happened, kept for audit: who, what, on which record. Never arguments, results, tokens or answers. */
export interface StoredEvent {
  readonly id: string;
  /** Grows by one; gaps never. */
  readonly sequence: number;
  readonly at: number;
  /** `task.created`, `task.settled`, `task.input_asked`, `admin.result_read` … */
  readonly type: string;
  readonly tenant: string;
  /** Binding key of who did it, `system`, or `admin`. */
  readonly actor: string;
  readonly taskId?: string;
  readonly operationId?: string;
  readonly reason?: string;
}

export type NewEvent = Omit<StoredEvent, 'id' | 'sequence' | 'at'>;

export interface ListEvents {
  readonly afterSequence?: number;
  /** At most 1,000 come back, whatever is asked for. */
  readonly limit: number;
  readonly taskId?: string;
}

/** Append-only. Most events are written by the other aggregates' methods, in their transactions. */
export interface EventStore {
  append(event: NewEvent): Promise<StoredEvent>;
  list(params: ListEvents): Promise<readonly StoredEvent[]>;
}
