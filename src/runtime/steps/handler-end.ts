import { isJsonObject } from '../../kernel/json.ts';
import { handlerEndOf } from '../conclusion.ts';
import type { RunEnd } from '../job.ts';
import { CANCELLED, handlerFailed, handlerReturned, journalMismatch } from '../outcomes.ts';
import { RpcFailure } from '../surface.ts';
import type { DeedName, Mismatch } from './history.ts';

/** Whether it has the form of a tool's result. */
const isResult = (value: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(value['content']) || isJsonObject(value['structuredContent']);

function whatItIs(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (isJsonObject(value) && value['resultType'] === 'input_required')
    return 'a question (ask the owner with job.ask or job.askUrl)';
  if (typeof value === 'object') return 'an object without content';
  return `a ${typeof value}`;
}

/** What a handler returned: a tool's result, or a RunEnd of its own; all else is said to be none (P4). */
export function endOfReturned(value: unknown): RunEnd {
  const own = handlerEndOf(value);
  if (own.kind === 'returned') return own.end;
  if (!isJsonObject(value) || !isResult(value))
    return { outcome: handlerReturned(whatItIs(value)), end: 'error', reason: 'invalid_end' };
  const end = value['isError'] === true ? 'tool_error' : 'answered';
  return { outcome: { kind: 'result', result: value }, end, reason: end };
}

/** What a handler threw, with its own words. The other side's error goes out as it came. */
export function endOfThrown(thrown: unknown): RunEnd {
  if (!(thrown instanceof RpcFailure))
    return { outcome: handlerFailed(thrown), end: 'error', reason: 'internal_error' };
  return { outcome: errorOutcome(thrown), end: 'error', reason: 'error' };
}

function errorOutcome({ code, message, data }: RpcFailure): RunEnd['outcome'] {
  const plain = { code, message };
  if (data === undefined) return { kind: 'error', error: plain };
  return { kind: 'error', error: { ...plain, data: data as never } };
}

export const endOfCancelledRun = (): RunEnd => ({
  outcome: CANCELLED,
  end: 'cancelled',
  reason: 'input_expired',
});

const wordsOf = (deed: DeedName | undefined): string | undefined =>
  deed && `the ${deed.kind} ${JSON.stringify(deed.name)}`;

export function endOfMismatch({ position, expected, found }: Mismatch): RunEnd {
  const changed = { position, expected: wordsOf(expected), found: wordsOf(found) };
  return { outcome: journalMismatch(changed), end: 'lost', reason: 'journal_mismatch' };
}
