import type { JsonObject } from '../kernel/json.ts';
import type {
  InputAnswer,
  InputMethod,
  InputPolicy,
  InputRequest,
  Task,
} from '../protocol/model.ts';
import type { Access } from './access.ts';
import type { Fence } from './attempts.ts';
import type { JournalFact } from './journal.ts';

export interface NewInput {
  readonly key: string;
  readonly method: InputMethod;
  readonly params: JsonObject;
  /** How long it may stay open; counted by the store's clock. */
  readonly openMs: number;
  readonly policy?: InputPolicy;
  /** URL mode: keyed hash of the confirmation that the page has to give; unique. Only such a page can be opened. */
  readonly confirmationHash?: string;
}

export type AskedInputs =
  | { readonly kind: 'asked'; readonly task: Task; readonly inputs: readonly InputRequest[] }
  /**
   * The task has ended, the attempt is fenced out, a key was used before in this task, or the journal's next position
   * is another (`conflict`).
   */
  | { readonly kind: 'refused'; readonly reason: AskRefusal };

export type AskRefusal = 'ended' | 'fenced' | 'key_reused' | 'conflict';

export interface AnsweredInput {
  readonly key: string;
  readonly answer: InputAnswer;
}

export interface AnswerInputs {
  readonly taskId: string;
  readonly answers: readonly AnsweredInput[];
}

export type AnswerOutcome =
  | {
      readonly kind: 'taken';
      readonly task: Task;
      /** Keys that this call answered: the first answer of a key wins, once (Q3). */
      readonly taken: readonly AnsweredInput[];
      /** Keys never asked, answered before, withdrawn, expired, or of an ended task (G2-54, T28). */
      readonly ignored: readonly string[];
      /**
       * Whether this call answered the last open question, also of those that a page has to confirm, and so resumed
       * the task: true exactly once per round. Where an attempt is parked on it, that one is queued now.
       */
      readonly resumed: boolean;
    }
  | { readonly kind: 'missing' };

export interface OpenPage {
  readonly taskId: string;
  readonly key: string;
  /** The status message from here on: sanitized. */
  readonly message?: string;
}

/** Why an open question went away without an answer. */
export const WITHDRAW_REASONS = ['upstream_lost', 'upstream_withdrew', 'expired', 'ended'] as const;
export type WithdrawReason = (typeof WITHDRAW_REASONS)[number];

/**
 * Questions of tasks. Asking and the move to `input_required`, answering and the move back, are one transaction each.
 * A question is open while it is pending or confirming. A task is `input_required` while one is pending: what a page
 * has to confirm waits for nothing that its caller could send. An attempt that is parked on answers sleeps while one is
 * open, and is queued by whatever closes the last one, in the same transaction.
 */
export interface InputStore {
  /** `facts`: what the journal remembers of it, in the same transaction. */
  ask(
    fence: Fence,
    inputs: readonly NewInput[],
    facts?: readonly JournalFact[],
  ): Promise<AskedInputs>;
  answer(access: Access, params: AnswerInputs): Promise<AnswerOutcome>;
  /** Closes open keys; the task goes back to `working` when none is pending any more. */
  withdraw(
    taskId: string,
    keys: readonly string[],
    reason: WithdrawReason,
  ): Promise<Task | undefined>;
  /** Pending ones of a live task, oldest first. */
  listPending(access: Access, taskId: string): Promise<readonly InputRequest[]>;
  /** Pending and confirming ones of a live task, oldest first, also those whose time is up. */
  listOpen(access: Access, taskId: string): Promise<readonly InputRequest[]>;
  /** An answer that was taken; kept until it is consumed (`JournalStore.consumeAnswer`) or the task ends. */
  answerOf(taskId: string, key: string): Promise<InputAnswer | undefined>;
  /** Pending and confirming ones whose time is up by the store's clock. */
  listDue(limit: number): Promise<readonly InputRequest[]>;
  /** One question in any state, with its answer where there is one. */
  find(taskId: string, key: string): Promise<FoundInput | undefined>;
  /** The owner consented to open the page: `pending` becomes `confirming`, once. The task goes back to `working`. */
  openPage(access: Access, page: OpenPage): Promise<Task | undefined>;
  /** A question whose page was asked to confirm. Nothing where it is foreign, closed, or its time is up. */
  findByConfirmation(access: Access, confirmationHash: string): Promise<InputRequest | undefined>;
  /**
   * The page's word: closes a pending or confirming question with this answer, once. `missing` where it is foreign,
   * unknown, closed, or its time is up.
   */
  confirm(access: Access, confirmationHash: string, answer: InputAnswer): Promise<AnswerOutcome>;
  /** How long the task has had a question open, in ms: overlapping ones count once. A person's time (Q1). */
  openTimeMs(taskId: string): Promise<number>;
  /** Open questions of all tasks, as many as there are of each policy. */
  countOpen(): Promise<readonly OpenCount[]>;
}

export interface OpenCount {
  readonly policy?: InputPolicy;
  readonly count: number;
}

export interface FoundInput {
  readonly input: InputRequest;
  readonly answer?: InputAnswer;
  /** Why it was closed without an answer; absent where it is open or was answered. */
  readonly closedBecause?: WithdrawReason;
}
