/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object. Members that are `undefined` are left out when written. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member as an object, or nothing where it is absent or something else. */
export function objectAt(parent: JsonObject | undefined, member: string): JsonObject | undefined {
  const value = parent?.[member];
  return isJsonObject(value) ? value : undefined;
}

/** The member as a string, or nothing where it is absent or something else. */
export function stringAt(parent: JsonObject | undefined, member: string): string | undefined {
  const value = parent?.[member];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a value nests deeper than that many levels. Walks without recursion, so that depth costs no stack. */
export function nestsDeeperThan(levels: number, value: unknown): boolean {
  const open: (readonly [value: object, depth: number])[] = [];
  const visit = (each: unknown, depth: number): void => {
    if (typeof each === 'object' && each !== null) open.push([each, depth]);
  };
  visit(value, 1);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [container, depth] = next;
    if (depth > levels) return true;
    for (const member of Object.values(container)) visit(member, depth + 1);
  }
  return false;
}

/** `strict` refuses integers that doubles can't tell apart; `as-printed` takes whatever was parsed. */
export type NumberRule = 'strict' | 'as-printed';

function canonicalNumber(value: number, rule: NumberRule): string {
  if (!Number.isFinite(value)) throw new TypeError('a number that is not finite has no JSON form');
  if (rule === 'strict' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new TypeError(
      'an integer beyond 2^53 cannot be told apart from its neighbours; send it as a string',
    );
  return JSON.stringify(value);
}

/**
 * Canonical JSON (RFC 8785): members sorted by UTF-16 code units, no white space. Two requests that mean the same
 * have the same text. Throws TypeError on numbers that `rule` does not take.
 */
export function canonicalJson(value: Json, rule: NumberRule = 'strict'): string {
  if (typeof value === 'number') return canonicalNumber(value, rule);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item: Json) => canonicalJson(item, rule)).join(',')}]`;
  const members = Object.entries(value as JsonObject)
    .filter((entry): entry is [string, Json] => entry[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member, rule)}`);
  return `{${members.join(',')}}`;
}
