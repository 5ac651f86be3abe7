import type { Context } from 'hono';
import { isJsonObject } from '../kernel/json.ts';
import { usage } from './refusals.ts';

const LIMIT_DEFAULT = 50;
/** One more than the limit is read to know whether there is more; a store gives 200 at most. */
export const LIMIT_MAX = 100;

/** Keyset position of a list that is ordered newest first. */
export interface Position {
  readonly createdAt: number;
  readonly id: string;
}

/**
 * The query of a list. A parameter that is not known, or comes twice, is an error: a filter that is silently ignored
 * answers with records that nobody asked for.
 */
export function queryOf<Name extends string>(
  context: Context,
  names: readonly Name[],
): Partial<Readonly<Record<Name, string>>> {
  const given = Object.entries(context.req.queries());
  for (const [name, values] of given) {
    if (!(names as readonly string[]).includes(name))
      throw usage(`no such filter here: ${name}`, `filters: ${names.join(', ')}`);
    if (values.length > 1) throw usage(`the filter ${name} is given more than once`);
  }
  return Object.fromEntries(given.map(([name, [value = '']]) => [name, value])) as Partial<
    Readonly<Record<Name, string>>
  >;
}

export function limitOf(text: string | undefined): number {
  if (text === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX) throw usage(`limit must be a number from 1 to ${LIMIT_MAX}`);
  return limit;
}

/** One of a closed set, or nothing where it was not given. */
export function oneOf<T extends string>(
  name: string,
  text: string | undefined,
  allowed: readonly T[],
): T | undefined {
  const found = allowed.find((value) => value === text);
  if (text !== undefined && found === undefined)
    throw usage(`${name} must be one of: ${allowed.join(', ')}`);
  return found;
}

/** Cursors need no seal here: whoever may ask this API may see every page of it. */
export const cursorOf = ({ createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function positionOf(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  const [createdAt, id] = Array.isArray(parsed) && parsed.length === 2 ? (parsed as unknown[]) : [];
  if (typeof createdAt !== 'number' || typeof id !== 'string' || id.length > 64)
    throw usage('the cursor is not one of this list', 'start again without a cursor');
  return { createdAt, id };
}

const REASON_CHARS_MAX = 200;

/** The `reason` of a command's body: why a person does it. Nothing where it was not given. */
export async function reasonOf(context: Context): Promise<string | undefined> {
  const body = parseJson(await context.req.text());
  if (!isJsonObject(body)) throw usage('the body must be a JSON object');
  const unknown = Object.keys(body).find((member) => member !== 'reason');
  if (unknown !== undefined) throw usage('the body may have the member reason only');
  const reason = body['reason'];
  if (reason === undefined) return undefined;
  if (typeof reason !== 'string' || reason.length > REASON_CHARS_MAX)
    throw usage(`reason must be a text of at most ${REASON_CHARS_MAX} characters`);
  return reason;
}
