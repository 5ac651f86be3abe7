import { invariant } from '../../kernel/invariant.ts';

/** The most rows of one page, as the ports promise. */
export const PAGE_ROWS_MAX = 200;

/** Deletions and claims of one transaction; 500 rows would block the event loop for 20 to 50 ms. */
export const BATCH_ROWS_MAX = 200;

/** A page's size. More than the port allows is a mistake of the caller: a short page would look like the last one. */
export function pageLimit(limit: number): number {
  invariant(Number.isInteger(limit) && limit >= 1, 'a page has at least one row');
  invariant(limit <= PAGE_ROWS_MAX, `a page has at most ${PAGE_ROWS_MAX} rows`);
  return limit;
}

/** How many rows one round of work takes: what was asked for, within bounds. The next round takes the rest. */
export function roundLimit(limit: number, max: number = BATCH_ROWS_MAX): number {
  invariant(Number.isInteger(limit) && limit >= 0, 'a round takes a number of rows');
  return Math.min(limit, max);
}
