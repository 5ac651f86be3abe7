import type { ByteRange } from '../../../runtime/artifacts/artifact-uri.ts';

/** What a `Range` header asks for. `whole`: none, or one that may be ignored. */
export type WantedRange = ByteRange | 'whole' | 'unsatisfiable';

const SINGLE_RANGE = /^bytes\s*=\s*(?<first>\d{0,15})\s*-\s*(?<last>\d{0,15})$/i;

/**
 * One range of bytes (RFC 9110, 14.1.2 and 14.2). Several at once, and what has another form, are ignored, as the RFC
 * lets a server do: the answer is the whole.
 */
export function readRange(header: string | undefined, bytes: number): WantedRange {
  const { first = '', last = '' } = SINGLE_RANGE.exec(header?.trim() ?? '')?.groups ?? {};
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes - 1 };
  }
  const [start, end] = [Number(first), last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)];
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= bytes ? 'unsatisfiable' : { start, end };
}
