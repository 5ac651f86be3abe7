import type { JsonObject } from '../kernel/json.ts';
import type { CallEnd } from '../ledger/operation.ts';
import type { InputAnswer, InputMethod, Outcome, Task, TaskRequest } from '../protocol/model.ts';
import type { UpstreamTask, WakeUp } from '../stores/attempts.ts';
import type { AskedInputs, FoundInput, NewInput } from '../stores/inputs.ts';
import type { Journalled, JournalFact, NewEffect, Receipt } from '../stores/journal.ts';
import type { ServedTool } from './tool.ts';

/** One question of a running call. Keys are made by the runtime. */
export interface Question {
  readonly method: InputMethod;
  readonly params: JsonObject;
}

/** What became of a question. `undeclared`: the creating request cannot be asked this kind; nobody saw it. */
export type Reply =
  | { readonly kind: 'answer'; readonly answer: InputAnswer }
  | { readonly kind: 'undeclared' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'withdrawn' };

/** How a run ended. The runtime settles; a handler that throws something else than this is an internal error. */
export interface RunEnd {
  readonly outcome: Outcome;
  /** What the ledger may conclude; an outcome made up by us (lost upstream) is `lost`. */
  readonly end: CallEnd;
  readonly reason: string;
}

/** The run went to sleep in good order: its next attempt is in the store and wakes by itself. Nothing is settled. */
export interface RunParked {
  readonly parked: true;
}

/** The journal of one task as one of its attempts may write it. Nothing in it rejects for a lost fence. */
export interface JobJournal {
  read(): Promise<readonly JournalFact[]>;
  append(facts: readonly JournalFact[]): Promise<Journalled>;
  dispatchEffect(effect: NewEffect, fact: JournalFact): Promise<Journalled>;
  /** Also takes what comes after the task has ended; then it is the ledger alone that learns it. */
  recordReceipt(receipt: Omit<Receipt, 'journal'>, fact: JournalFact): Promise<boolean>;
  consumeAnswer(key: string, fact: JournalFact): Promise<Journalled>;
  ask(inputs: readonly NewInput[], fact: JournalFact): Promise<AskedInputs>;
  findInput(key: string): Promise<FoundInput | undefined>;
  park(wakeUp: Omit<WakeUp, 'nextAttemptId'>): Promise<boolean>;
  /** The store's time, which sleeps and questions are measured by. */
  now(): number;
  /** How long a question may stay open that is asked now, in ms: the tool's expiry, and what is left of the allowance. */
  openMs(): Promise<number>;
  /** Calls back when an answer may have come, or a question may have been closed. Returns the way to stop. */
  watch(listener: () => void): () => void;
}

/** What a run gets to work with: one attempt of one task, fenced by its epoch. */
export interface Job {
  readonly task: Task;
  readonly tool: ServedTool;
  readonly request: TaskRequest;
  /** 1 for the first run. */
  readonly attempt: number;
  /** The upstream's task that an earlier run left behind: go on observing it, call nothing again. */
  readonly upstreamTask?: UpstreamTask;
  /** Aborted on cancel, at the run limit, when the lease is lost, and at shutdown; `reason` is a StopReason. */
  readonly signal: AbortSignal;
  /** When the run limit passes if nothing is asked from here on, in ms since the epoch. */
  readonly deadline: number;
  /**
   * Durable before the first byte goes upstream. False: fenced out, told to stop, or the mark could not be written;
   * send nothing. May be called again by a run that tries again.
   */
  dispatched(): Promise<boolean>;
  journalUpstream(upstreamTask: UpstreamTask): Promise<boolean>;
  readonly journal: JobJournal;
  /** Asks the owner; resolves when all are answered, expired or withdrawn, in the order asked. */
  ask(questions: readonly Question[], signal?: AbortSignal): Promise<readonly Reply[]>;
  /** Sets the status message; throttled, sanitized, never fails. */
  status(text: string): void;
  /** Passes progress on to whoever watches; `params` are those of notifications/progress without the token. */
  progress(params: JsonObject): void;
  /** Passes a log message on to the caller's stream where the wire allows it. */
  log(params: JsonObject): void;
}

/** Why a run is told to stop. */
export const STOP_REASONS = [
  'cancelled',
  'run_limit',
  'lease_lost',
  'shutdown',
  'abandoned',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/**
 * Does the work of a tool. Must settle within the grace period once its signal is aborted, or it is left behind. What
 * the other side answers within that time is kept as the outcome, except where the lease is lost.
 */
export type RunTool = (job: Job) => Promise<RunEnd | RunParked>;
