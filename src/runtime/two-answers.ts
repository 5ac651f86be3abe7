/**
 * The two columns that people read side by side: what the protocol says about the request, and what the ledger says
 * about the effect (architecture §4). One table of every pair, computed here and nowhere else, so that list, detail,
 * API and command line can never disagree. A status alone says nothing about the effect.
 */
import type { OperationState } from '../ledger/operation.ts';
import { OPERATION_STATES } from '../ledger/operation.ts';
import type { Task, TaskEnding } from '../protocol/model.ts';

/** What the task says. `expired`: its record is gone while the operation is kept. */
export const TASK_SIDES = [
  'working',
  'input_required',
  'result',
  'tool_error',
  'error',
  'cancelled',
  'expired',
] as const satisfies readonly (TaskEnding | 'working' | 'input_required' | 'expired')[];
export type TaskSide = (typeof TASK_SIDES)[number];

/** What the ledger says. `none`: a read has no operation. `missing`: there should be a row, and there is none. */
export const OPERATION_SIDES = [...OPERATION_STATES, 'none', 'missing'] as const;
export type OperationSide = OperationState | 'none' | 'missing';

/** Whether the same thing may be asked for again, and how. */
export const SEND_AGAIN = ['no', 'new_operation', 'same_operation', 'freely'] as const;
export type SendAgain = (typeof SEND_AGAIN)[number];

export interface Reading {
  /** Fits a table column. */
  readonly words: string;
  /** One sentence for whoever decides what to do next. */
  readonly explanation: string;
  readonly sendAgain: SendAgain;
  /** Why it may or may not be sent again, with the next step. */
  readonly advice: string;
}

/** Every reading there is, by a stable name for programs. */
export const READINGS = {
  read_running: {
    words: 'not applicable',
    explanation: 'a read: it changes nothing, whatever becomes of it',
    sendAgain: 'freely',
    advice: 'it is still running; a read may be asked for again',
  },
  read_ended: {
    words: 'not applicable',
    explanation: 'a read: it changed nothing',
    sendAgain: 'freely',
    advice: 'a read may be asked for again',
  },
  not_sent: {
    words: 'nothing sent yet',
    explanation: 'the effect is intended; nothing has gone to the upstream',
    sendAgain: 'no',
    advice: 'no: it is still going to be sent',
  },
  in_flight: {
    words: 'in flight',
    explanation: 'the call went to the upstream and has not been answered',
    sendAgain: 'no',
    advice: 'no: it is on its way',
  },
  settling: {
    words: 'answered, not confirmed',
    explanation:
      'the upstream answered, the task has not ended; the system of record has not spoken',
    sendAgain: 'no',
    advice: 'no: confirm first',
  },
  happened_early: {
    words: 'confirmed',
    explanation: 'the effect is confirmed while the task still runs',
    sendAgain: 'no',
    advice: 'no: it happened',
  },
  not_arrived: {
    words: 'never arrived',
    explanation:
      'the system of record has not seen it; the running task may send it again, under the same key',
    sendAgain: 'no',
    advice: 'no: the running task takes care of it',
  },
  closed_early: {
    words: 'nothing happened',
    explanation: 'the effect was given up before anything was sent; the task is about to end',
    sendAgain: 'no',
    advice: 'no: wait until the task has ended',
  },
  refused_early: {
    words: 'the system of record said no',
    explanation: 'the system of record refused the effect; the task has not ended yet',
    sendAgain: 'no',
    advice: 'no: wait until the task has ended',
  },
  looking: {
    words: 'not known: being looked into',
    explanation:
      'the call was sent and its answer was lost; the task waits for what can be found out',
    sendAgain: 'no',
    advice: 'no: reconcile first',
  },
  done: {
    words: 'done',
    explanation: 'the task completed and the system of record confirms the effect',
    sendAgain: 'no',
    advice: 'no: it happened',
  },
  answered: {
    words: 'answered, not confirmed',
    explanation: 'the upstream answered success; the system of record has not spoken',
    sendAgain: 'no',
    advice: 'no: confirm first',
  },
  answered_anyway: {
    words: 'answered, not confirmed',
    explanation:
      'the upstream answered success all the same; the system of record has not spoken and nothing was rolled back',
    sendAgain: 'no',
    advice: 'no: confirm first',
  },
  not_known: {
    words: 'not known: reconcile first',
    explanation: 'the call was sent and nobody can say whether it took effect',
    sendAgain: 'no',
    advice: 'no: reconcile first',
  },
  not_closed: {
    words: 'not closed: nothing sent',
    explanation:
      'the task has ended, its operation still stands as intended; nothing is known to have been sent',
    sendAgain: 'no',
    advice: 'no: the ledger has to close it first',
  },
  refused: {
    words: 'the system of record said no',
    explanation: 'the system of record refused the effect, and that is final',
    sendAgain: 'new_operation',
    advice: 'as a new operation, if it is still wanted',
  },
  nothing: {
    words: 'nothing happened',
    explanation: 'the effect never reached the system of record',
    sendAgain: 'same_operation',
    advice: 'yes: a new task on the same operation, same key',
  },
  completed_without_effect: {
    words: 'nothing happened',
    explanation: 'the task completed, but the effect never reached the system of record',
    sendAgain: 'same_operation',
    advice: 'yes: a new task on the same operation, same key',
  },
  happened_anyway: {
    words: 'it happened all the same; not rolled back',
    explanation:
      'the effect is confirmed although the call was not reported as a success; it was not rolled back',
    sendAgain: 'no',
    advice: 'no: it happened',
  },
  disputed: {
    words: 'evidence disagrees',
    explanation: 'two sources say different things about the effect',
    sendAgain: 'no',
    advice: 'no: people have to resolve it',
  },
  no_record: {
    words: 'not known: no ledger record',
    explanation: 'the call was no read, and its operation cannot be found in the ledger',
    sendAgain: 'no',
    advice: 'no: find out at the system of record first',
  },
} as const satisfies Readonly<Record<string, Reading>>;
export type ReadingName = keyof typeof READINGS;

const ALWAYS = { contradicted: 'disputed', missing: 'no_record' } as const;

const RUNNING = {
  ...ALWAYS,
  none: 'read_running',
  intended: 'not_sent',
  dispatched: 'in_flight',
  acknowledged: 'settling',
  confirmed: 'happened_early',
  refused: 'refused_early',
  absent: 'not_arrived',
  unknown: 'looking',
  abandoned: 'closed_early',
} as const;

const ENDED = {
  ...ALWAYS,
  none: 'read_ended',
  intended: 'not_closed',
  dispatched: 'not_known',
  unknown: 'not_known',
  refused: 'refused',
} as const;

const COMPLETED = {
  ...ENDED,
  acknowledged: 'answered',
  confirmed: 'done',
  absent: 'completed_without_effect',
  abandoned: 'completed_without_effect',
} as const;

/** A tool's own error counts here: its task is `failed` for one generation and `completed` for the other. */
const NOT_COMPLETED = {
  ...ENDED,
  acknowledged: 'answered_anyway',
  confirmed: 'happened_anyway',
  absent: 'nothing',
  abandoned: 'nothing',
} as const;

export const READING_TABLE: Readonly<
  Record<TaskSide, Readonly<Record<OperationSide, ReadingName>>>
> = {
  working: RUNNING,
  input_required: RUNNING,
  result: COMPLETED,
  tool_error: NOT_COMPLETED,
  error: NOT_COMPLETED,
  cancelled: NOT_COMPLETED,
  expired: NOT_COMPLETED,
};

/** The task's side of a pair. A record that is not there has expired, or was lost: both read the same. */
export function taskSideOf(task: Pick<Task, 'phase' | 'ending'> | undefined): TaskSide {
  if (task === undefined) return 'expired';
  if (task.phase !== 'ended') return task.phase;
  return task.ending ?? 'error';
}

/** The ledger's side of a pair, for a task that names its operation or not. */
export function operationSideOf(
  task: Pick<Task, 'effect' | 'operationId'>,
  operation: { readonly state: OperationState } | undefined,
): OperationSide {
  if (operation !== undefined) return operation.state;
  return task.operationId === undefined && task.effect === 'read' ? 'none' : 'missing';
}

/** What people read about one pair. */
export function readingOf(task: TaskSide, operation: OperationSide): NamedReading {
  const name = READING_TABLE[task][operation];
  return { name, ...READINGS[name] };
}

export interface NamedReading extends Reading {
  readonly name: ReadingName;
}

/** Readings that leave the effect in doubt: a program must not take them for success or failure. */
export const DOUBTFUL_READINGS = ['not_known', 'not_closed', 'disputed', 'no_record'] as const;

export function isDoubtful(name: ReadingName): boolean {
  return (DOUBTFUL_READINGS as readonly ReadingName[]).includes(name);
}
