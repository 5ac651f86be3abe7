import { invariant } from '../../kernel/invariant.ts';
import type { OperationState } from '../../ledger/operation.ts';
import type { HandleState, InputState, TaskEnding, TaskPhase } from '../../protocol/model.ts';
import type { AttemptState } from '../attempts.ts';
import type { JournalFact } from '../journal.ts';
import type { Person } from './people.ts';

/** What a store is expected to hold, kept in plain objects: the other side of the comparison in history.ts. */

export interface ModelAttempt {
  readonly id: string;
  readonly number: number;
  epoch: number;
  state: AttemptState;
  dispatched: boolean;
  /** Of a parked one. */
  wakeUp?: { readonly onAnswers: boolean; readonly at: number | undefined };
}

export interface ModelTask {
  readonly id: string;
  readonly by: Person;
  readonly createdAt: number;
  readonly ttlMs: number;
  readonly attempts: ModelAttempt[];
  readonly keys: Map<string, ModelKey>;
  phase: TaskPhase;
  ending?: TaskEnding;
  message?: string;
  updatedAt: number;
  handle: HandleState;
  cancelRequested: boolean;
  revision: number;
  swept: boolean;
  /** Absent for reads. */
  operation?: OperationState;
  journal: JournalFact[];
  /** Those that were sent, by name. */
  readonly effects: Map<string, ModelEffect>;
  /** How often it was woken. */
  wakes: number;
}

export interface ModelEffect {
  readonly id: string;
  /** Where it began in the journal. */
  readonly position: number;
  state: OperationState;
}

export interface ModelKey {
  state: InputState;
  readonly expiresAt: number;
  /** Whether a page may confirm it. */
  readonly page: boolean;
  /** Whether its answer is still stored. */
  kept: boolean;
}

export const currentAttempt = (task: ModelTask): ModelAttempt => {
  const attempt = task.attempts.at(-1);
  invariant(attempt !== undefined, 'a task has an attempt');
  return attempt;
};

export const isExpired = (task: ModelTask, now: number): boolean =>
  task.createdAt + task.ttlMs <= now;

export const isVisibleToOwner = (task: ModelTask, now: number): boolean =>
  !task.swept && !isExpired(task, now);

export const isVisibleToSystem = (task: ModelTask, now: number): boolean =>
  !task.swept && (task.phase !== 'ended' || !isExpired(task, now));

/** Keys that an owner sees as pending. */
export const pendingKeys = (task: ModelTask, now: number): readonly string[] =>
  [...task.keys]
    .filter(([, { state, expiresAt }]) => state === 'pending' && expiresAt > now)
    .map(([key]) => key);

/** A change that moves the update time. */
export function touch(task: ModelTask, now: number): void {
  task.updatedAt = Math.max(task.updatedAt, now);
  task.revision += 1;
}

/** Whether a question is pending or has to be confirmed. */
export const isAsking = (task: ModelTask): boolean =>
  [...task.keys.values()].some(({ state }) => state === 'pending' || state === 'confirming');

/** What follows when a question was closed: back to `working`, and on with a handler that sleeps on the answers. */
export function afterClosing(task: ModelTask, now: number): void {
  const pending = [...task.keys.values()].some(({ state }) => state === 'pending');
  if (!pending && task.phase === 'input_required') {
    task.phase = 'working';
    touch(task, now);
  }
  if (!isAsking(task) && currentAttempt(task).wakeUp?.onAnswers === true) wakeAttempt(task);
}

/** Queues the parked attempt, if there is one. */
export function wakeAttempt(task: ModelTask): void {
  const attempt = currentAttempt(task);
  if (attempt.state !== 'parked') return;
  attempt.state = 'queued';
  delete attempt.wakeUp;
  task.wakes += 1;
}

export interface ModelEnd {
  readonly ending: TaskEnding;
  readonly answered: boolean;
}

export function endTask(task: ModelTask, now: number, { ending, answered }: ModelEnd): void {
  task.phase = 'ended';
  task.ending = ending;
  delete task.message;
  touch(task, now);
  currentAttempt(task).state = 'ended';
  delete currentAttempt(task).wakeUp;
  for (const key of task.keys.values()) {
    if (key.state === 'pending' || key.state === 'confirming') key.state = 'withdrawn';
    key.kept = false;
  }
  for (const effect of task.effects.values()) {
    if (effect.state === 'dispatched') effect.state = 'unknown';
  }
  if (task.operation === 'intended') task.operation = 'abandoned';
  if (task.operation === 'dispatched') task.operation = answered ? 'acknowledged' : 'unknown';
}

/** An outcome that came too late, or from an attempt that was fenced out. */
export function learnLate(task: ModelTask, answered: boolean): void {
  const open = task.operation === 'dispatched' || task.operation === 'unknown';
  if (open && answered) task.operation = 'acknowledged';
}
