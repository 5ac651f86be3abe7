import { describe, expect, test } from 'vitest';
import { OPERATION_STATES } from '../ledger/operation.ts';
import type { OperationState } from '../ledger/operation.ts';
import {
  DOUBTFUL_READINGS,
  OPERATION_SIDES,
  READINGS,
  READING_TABLE,
  TASK_SIDES,
  isDoubtful,
  operationSideOf,
  readingOf,
  taskSideOf,
} from './two-answers.ts';
import type { OperationSide, ReadingName, TaskSide } from './two-answers.ts';

/** The whole table again, written out by hand: one line per operation, one column per task. */
const ORDER = [
  'working',
  'input_required',
  'result',
  'tool_error',
  'error',
  'cancelled',
  'expired',
];
const EXPECTED: Readonly<Record<OperationSide, readonly ReadingName[]>> = {
  none: row('read_running', 'read_ended', 'read_ended'),
  missing: row('no_record', 'no_record', 'no_record'),
  intended: row('not_sent', 'not_closed', 'not_closed'),
  dispatched: row('in_flight', 'not_known', 'not_known'),
  acknowledged: row('settling', 'answered', 'answered_anyway'),
  confirmed: row('happened_early', 'done', 'happened_anyway'),
  refused: row('refused_early', 'refused', 'refused'),
  absent: row('not_arrived', 'completed_without_effect', 'nothing'),
  unknown: row('looking', 'not_known', 'not_known'),
  abandoned: row('closed_early', 'completed_without_effect', 'nothing'),
  contradicted: row('disputed', 'disputed', 'disputed'),
};

function row(
  open: ReadingName,
  completed: ReadingName,
  other: ReadingName,
): readonly ReadingName[] {
  return [open, open, completed, other, other, other, other];
}

const PAIRS = TASK_SIDES.flatMap((task) =>
  OPERATION_SIDES.map((operation) => ({ task, operation })),
);

test('the table covers every task side and every operation side, once', () => {
  expect([...TASK_SIDES]).toEqual(ORDER);
  expect(Object.keys(READING_TABLE).toSorted()).toEqual([...TASK_SIDES].toSorted());
  for (const task of TASK_SIDES)
    expect(Object.keys(READING_TABLE[task]).toSorted()).toEqual([...OPERATION_SIDES].toSorted());
  expect(PAIRS).toHaveLength(7 * 11);
});

test.each(PAIRS)('$task beside $operation reads as the table says', ({ task, operation }) => {
  const reading = readingOf(task, operation);
  expect(reading.name).toBe(EXPECTED[operation][TASK_SIDES.indexOf(task)]);
  expect(reading).toEqual({ name: reading.name, ...READINGS[reading.name] });
});

test('every reading is used by some pair', () => {
  const used = new Set(PAIRS.map(({ task, operation }) => readingOf(task, operation).name));
  expect([...used].toSorted()).toEqual(Object.keys(READINGS).toSorted());
});

describe('what may be sent again', () => {
  const again = (task: TaskSide, operation: OperationSide) => readingOf(task, operation).sendAgain;

  test('nothing that may have happened is ever offered again', () => {
    const mayHaveHappened = ['dispatched', 'acknowledged', 'confirmed', 'unknown', 'contradicted'];
    for (const { task, operation } of PAIRS) {
      if (![...mayHaveHappened, 'missing'].includes(operation)) continue;
      expect(again(task, operation), `${task} × ${operation}`).toBe('no');
    }
  });

  test('nothing is offered again while its task still runs, but a read', () => {
    for (const task of ['working', 'input_required'] as const)
      for (const state of OPERATION_STATES) expect(again(task, state), state).toBe('no');
    expect(again('working', 'none')).toBe('freely');
  });

  test('what never arrived goes again on the same operation, what was refused as a new one', () => {
    for (const task of ['error', 'cancelled', 'expired', 'result'] as const) {
      expect(again(task, 'absent')).toBe('same_operation');
      expect(again(task, 'abandoned')).toBe('same_operation');
      expect(again(task, 'refused')).toBe('new_operation');
    }
  });
});

test('doubt is exactly where an ended call may or may not have taken effect', () => {
  const doubtful = PAIRS.filter(({ task, operation }) =>
    isDoubtful(readingOf(task, operation).name),
  );
  const states = new Set(doubtful.map(({ operation }) => operation));
  expect([...states].toSorted()).toEqual(
    ['contradicted', 'dispatched', 'intended', 'missing', 'unknown'].toSorted(),
  );
  expect(DOUBTFUL_READINGS.every((name) => name in READINGS)).toBe(true);
  expect(isDoubtful('done')).toBe(false);
});

describe('the sides of a pair', () => {
  test('a task that is not there has expired', () => {
    expect(taskSideOf(undefined)).toBe('expired');
  });

  test('an open task is its phase, an ended one its ending', () => {
    expect(taskSideOf({ phase: 'working' })).toBe('working');
    expect(taskSideOf({ phase: 'input_required' })).toBe('input_required');
    for (const ending of ['result', 'tool_error', 'error', 'cancelled'] as const)
      expect(taskSideOf({ phase: 'ended', ending })).toBe(ending);
  });

  test('only a read without an operation has none; anything else without its row is missing', () => {
    expect(operationSideOf({ effect: 'read' }, undefined)).toBe('none');
    expect(operationSideOf({ effect: 'consequential' }, undefined)).toBe('missing');
    expect(operationSideOf({ effect: 'reversible', operationId: 'op_1' }, undefined)).toBe(
      'missing',
    );
    const state: OperationState = 'unknown';
    expect(operationSideOf({ effect: 'reversible', operationId: 'op_1' }, { state })).toBe(state);
  });
});

test('words fit a column, and no reading says completed or failed: that is the other column', () => {
  for (const { words } of Object.values(READINGS)) {
    expect(words.length).toBeLessThanOrEqual(45);
    expect(words).not.toMatch(/completed|failed|cancelled/);
  }
});
