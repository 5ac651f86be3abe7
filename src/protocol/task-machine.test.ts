import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import { GENERATIONS, TASK_ENDINGS, TASK_PHASES, TASK_STATUSES, endingOf } from './model.ts';
import type { Outcome, TaskPhase, TaskStatus } from './model.ts';
import { PHASE_MOVES, TASK_MOVES, canMove, statusOf } from './task-machine.ts';

const anyPhase = fc.constantFrom(...TASK_PHASES);
const TERMINAL = ['completed', 'failed', 'cancelled'] as const satisfies readonly TaskStatus[];

describe('the machine of a task', () => {
  verifies(['G1-21', 'G1-22', 'G2-22', 'G2-23'], 'has the moves of both texts and no other', () => {
    expect(TASK_MOVES).toEqual({
      working: ['input_required', 'completed', 'failed', 'cancelled'],
      input_required: ['working', 'completed', 'failed', 'cancelled'],
      completed: [],
      failed: [],
      cancelled: [],
    });
  });

  verifies(['G1-22', 'G2-23'], 'never leaves the end, whatever is tried in whatever order', () => {
    fc.assert(
      fc.property(fc.array(anyPhase, { maxLength: 40 }), (wanted) => {
        let phase: TaskPhase = 'working';
        let ended = false;
        for (const next of wanted) {
          if (canMove(phase, next)) phase = next;
          ended ||= phase === 'ended';
          expect(phase === 'ended').toBe(ended);
        }
      }),
    );
  });

  it('moves in phases as it does in statuses', () => {
    for (const from of ['working', 'input_required'] as const) {
      const open = TASK_MOVES[from].filter((to) => !(TERMINAL as readonly string[]).includes(to));
      expect(PHASE_MOVES[from].filter((to) => to !== 'ended')).toEqual(open);
      expect(canMove(from, 'ended')).toBe(true);
    }
  });
});

describe('the status that a reader sees', () => {
  verifies(
    ['G1-38', 'G2-44', 'T8'],
    'is a function of how the task ended and of the generation',
    () => {
      const seen = TASK_ENDINGS.map((ending) =>
        GENERATIONS.map((reader) => statusOf({ phase: 'ended', ending }, reader)),
      );
      expect(Object.fromEntries(TASK_ENDINGS.map((ending, at) => [ending, seen[at]]))).toEqual({
        result: ['completed', 'completed'],
        tool_error: ['failed', 'completed'],
        error: ['failed', 'failed'],
        cancelled: ['cancelled', 'cancelled'],
      });
    },
  );

  it('is the phase while the task is open, and a terminal status exactly when it is not', () => {
    fc.assert(
      fc.property(
        anyPhase,
        fc.constantFrom(...GENERATIONS),
        fc.constantFrom(...TASK_ENDINGS),
        (phase, reader, ending) => {
          const status = statusOf(phase === 'ended' ? { phase, ending } : { phase }, reader);
          expect(TASK_STATUSES).toContain(status);
          expect((TERMINAL as readonly string[]).includes(status)).toBe(phase === 'ended');
        },
      ),
    );
  });
});

describe('the ending of an outcome', () => {
  it.each<[Outcome, string]>([
    [{ kind: 'result', result: { content: [] } }, 'result'],
    [{ kind: 'result', result: { isError: false } }, 'result'],
    [{ kind: 'result', result: { isError: 'yes' } }, 'result'],
    [{ kind: 'result', result: { isError: true } }, 'tool_error'],
    [{ kind: 'error', error: { code: -32603, message: 'no' } }, 'error'],
    [{ kind: 'cancelled' }, 'cancelled'],
  ])('of %j is %s', (outcome, ending) => {
    expect(endingOf(outcome)).toBe(ending);
  });
});
