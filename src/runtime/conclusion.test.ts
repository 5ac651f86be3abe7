import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CALL_ENDS } from '../ledger/operation.ts';
import { conclude, handlerEndOf, type HandlerEnd } from './conclusion.ts';
import { STOP_REASONS, type RunEnd, type StopReason } from './job.ts';

const endOf = (end: RunEnd['end']): RunEnd => ({
  outcome: { kind: 'result', result: { end } },
  end,
  reason: 'said',
});

const anyHandlerEnd: fc.Arbitrary<HandlerEnd> = fc.oneof(
  fc.constantFrom(...CALL_ENDS).map((end): HandlerEnd => ({ kind: 'returned', end: endOf(end) })),
  fc.constant<HandlerEnd>({ kind: 'invalid' }),
  fc.constant<HandlerEnd>({ kind: 'hung' }),
  fc.anything().map((thrown): HandlerEnd => ({ kind: 'threw', thrown })),
);
const anyStop = fc.option(fc.constantFrom(...STOP_REASONS), { nil: undefined });

const concludeWith = (handler: HandlerEnd, stop: StopReason | undefined) =>
  conclude({ handler, runLimitMs: 1_000, ...(stop === undefined ? {} : { stop }) });

describe('the conclusion of a run', () => {
  it('is a settlement with an outcome, except where the lease is lost or the process leaves', () => {
    fc.assert(
      fc.property(anyHandlerEnd, anyStop, (handler, stop) => {
        const conclusion = concludeWith(handler, stop);
        const mayLeave = stop === 'lease_lost' || stop === 'shutdown';
        if (!mayLeave) expect(conclusion.kind).toBe('settle');
        if (conclusion.kind === 'settle')
          expect(['result', 'error', 'cancelled']).toContain(conclusion.outcome.kind);
      }),
    );
  });

  it('never calls a call answered that its handler did not call so', () => {
    fc.assert(
      fc.property(anyHandlerEnd, anyStop, (handler, stop) => {
        const conclusion = concludeWith(handler, stop);
        const answered = handler.kind === 'returned' && handler.end.end === 'answered';
        if (conclusion.kind === 'settle' && conclusion.callEnd === 'answered')
          expect(answered).toBe(true);
      }),
    );
  });

  it('settles nothing for a fenced-out attempt, and keeps its real answer as evidence', () => {
    expect(concludeWith({ kind: 'returned', end: endOf('answered') }, 'lease_lost')).toEqual({
      kind: 'leave',
      evidence: endOf('answered'),
    });
    expect(concludeWith({ kind: 'returned', end: endOf('lost') }, 'lease_lost')).toEqual({
      kind: 'leave',
    });
  });

  it('settles at a shutdown only what the other side has said', () => {
    const kinds = CALL_ENDS.map((end) => [
      end,
      concludeWith({ kind: 'returned', end: endOf(end) }, 'shutdown').kind,
    ]);
    expect(Object.fromEntries(kinds)).toEqual({
      answered: 'settle',
      tool_error: 'settle',
      error: 'settle',
      lost: 'leave',
      cancelled: 'leave',
      run_limit: 'leave',
    });
  });

  it('calls everything but an answer at the run limit by that name', () => {
    for (const end of CALL_ENDS) {
      const conclusion = concludeWith({ kind: 'returned', end: endOf(end) }, 'run_limit');
      expect(conclusion).toMatchObject({ reason: end === 'answered' ? 'said' : 'run_limit' });
    }
  });
});

describe('what a handler returns', () => {
  it.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['a string', 'done'],
    ['a list', []],
    ['no outcome', { end: 'answered', reason: '' }],
    ['an outcome without a body', { outcome: { kind: 'result' }, end: 'answered', reason: '' }],
    [
      'a result that is a list',
      { outcome: { kind: 'result', result: [] }, end: 'answered', reason: '' },
    ],
    [
      'an error with a text for a code',
      { outcome: { kind: 'error', error: { code: '1', message: '' } }, end: 'error', reason: '' },
    ],
    ['an unknown end', { outcome: { kind: 'cancelled' }, end: 'gone', reason: '' }],
    ['no reason', { outcome: { kind: 'cancelled' }, end: 'cancelled' }],
  ])('is invalid with %s', (_what, returned) => {
    expect(handlerEndOf(returned)).toEqual({ kind: 'invalid' });
  });

  it('is taken as it is when it is valid', () => {
    const end = endOf('answered');
    expect(handlerEndOf(end)).toEqual({ kind: 'returned', end });
  });
});
