import type { JsonObject } from '../kernel/json.ts';
import type { InputAnswer, InputMethod, InputRequest, Task } from '../protocol/model.ts';
import type { Access } from './access.ts';
import type { Fence } from './attempts.ts';

export interface NewInput {
  readonly key: string;
  readonly method: InputMethod;
  readonly params: JsonObject;
  /** How long it may stay open; counted by the store's clock. */
  readonly openMs: number;
}

export type AskedInputs =
  | { readonly kind: 'asked'; readonly task: Task; readonly inputs: readonly InputRequest[] }
  /** The task has ended, the attempt is fenced out, or a key was used before in this task. */
  | { readonly kind: 'refused'; readonly reason: 'ended' | 'fenced' | 'key_reused' };

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
      /** Whether this call answered the last open question and so resumed the task: true exactly once per round. */
      readonly resumed: boolean;
    }
  | { readonly kind: 'missing' };

/** Why a pending question went away without an answer. */
export type WithdrawReason = 'upstream_lost' | 'upstream_withdrew' | 'expired' | 'ended';

/** Questions of tasks. Asking and the move to `input_required`, answering and the move back, are one transaction each. */
export interface InputStore {
  ask(fence: Fence, inputs: readonly NewInput[]): Promise<AskedInputs>;
  answer(access: Access, params: AnswerInputs): Promise<AnswerOutcome>;
  /** Closes pending keys; the task goes back to `working` when none is left. */
  withdraw(
    taskId: string,
    keys: readonly string[],
    reason: WithdrawReason,
  ): Promise<Task | undefined>;
  /** Pending ones of a live task, oldest first. */
  listPending(access: Access, taskId: string): Promise<readonly InputRequest[]>;
  /** An answer that was taken; kept until the task ends. */
  answerOf(taskId: string, key: string): Promise<InputAnswer | undefined>;
  /** Pending ones whose time is up by the store's clock. */
  listDue(limit: number): Promise<readonly InputRequest[]>;
}
