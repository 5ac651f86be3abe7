import { isJsonObject, stringAt, type JsonObject } from '../kernel/json.ts';
import type { Connection, PeerAnswer } from './connection.ts';

/** Lists are read whole, but not without end: a peer that pages for ever must not hold us. */
const PAGES_MAX = 100;
const ITEMS_MAX = 10_000;

export interface PagesRequest {
  readonly method: string;
  /** The member of each page that holds the items. */
  readonly member: string;
  /** For each page. */
  readonly timeoutMs: number;
}

export type Pages =
  | { readonly kind: 'items'; readonly items: readonly JsonObject[] }
  | { readonly kind: 'failed'; readonly problem: string; readonly answer?: PeerAnswer };

/** Reads every page of a list. Items that are no objects are left out. */
export async function readPages(connection: Connection, request: PagesRequest): Promise<Pages> {
  const items: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX && items.length < ITEMS_MAX; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await connection.request({
      method: request.method,
      params,
      timeoutMs: request.timeoutMs,
    });
    if (answer.kind !== 'result') return { kind: 'failed', problem: problemOf(answer), answer };
    const found = answer.result[request.member];
    if (!Array.isArray(found))
      return { kind: 'failed', problem: `${request.method} answered without ${request.member}` };
    items.push(...found.filter(isJsonObject));
    cursor = stringAt(answer.result, 'nextCursor');
    if (cursor === undefined) return { kind: 'items', items };
  }
  return {
    kind: 'failed',
    problem: `${request.method} has more than ${PAGES_MAX} pages or ${ITEMS_MAX} items`,
  };
}

/** What went wrong, in words; an answer that is a result is no problem. */
export function problemOf(answer: PeerAnswer): string {
  if (answer.kind === 'result') return '';
  if (answer.kind === 'error') return answer.error.message;
  if (answer.kind === 'timeout') return 'it did not answer in time';
  if (answer.kind === 'aborted') return 'the request was given up';
  return answer.problem;
}
