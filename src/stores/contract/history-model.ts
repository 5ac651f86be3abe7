import { invariant } from '../../kernel/invariant.ts';
import type { OperationState } from '../../ledger/operation.ts';
import type { HandleState, InputState, TaskEnding, TaskPhase } from '../../protocol/model.ts';
import type { Person } from './people.ts';

/** What a store is expected to hold, kept in plain objects: the other side of the comparison in history.ts. */

export interface ModelAttempt {
  readonly id: string;
  readonly number: number;
  epoch: number;
  state: 'queued' | 'running' | 'ended';
  dispatched: boolean;
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
}

export interface ModelKey {
  state: InputState;
  readonly expiresAt: number;
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

/** Keys that an owner sees as open. */
export const openKeys = (task: ModelTask, now: number): readonly string[] =>
  [...task.keys]
    .filter(([, { state, expiresAt }]) => state === 'pending' && expiresAt > now)
    .map(([key]) => key);

/** A change that moves the update time. */
export function touch(task: ModelTask, now: number): void {
  task.updatedAt = Math.max(task.updatedAt, now);
  task.revision += 1;
}

/** Back to `working` when no question is pending. */
export function resumeIfQuiet(task: ModelTask, now: number): boolean {
  const pending = [...task.keys.values()].some(({ state }) => state === 'pending');
  if (pending || task.phase !== 'input_required') return false;
  task.phase = 'working';
  touch(task, now);
  return true;
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
  for (const key of task.keys.values()) if (key.state === 'pending') key.state = 'withdrawn';
  if (task.operation === 'intended') task.operation = 'abandoned';
  if (task.operation === 'dispatched') task.operation = answered ? 'acknowledged' : 'unknown';
}

/** An outcome that came too late, or from an attempt that was fenced out. */
export function learnLate(task: ModelTask, answered: boolean): void {
  const open = task.operation === 'dispatched' || task.operation === 'unknown';
  if (open && answered) task.operation = 'acknowledged';
}
