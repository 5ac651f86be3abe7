import type { Json, JsonObject } from '../../kernel/json.ts';

type Visit = readonly [path: string, value: Json];

const membersOf = (path: string, value: Json): readonly Visit[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return value.map((item: Json, index): Visit => [`${path}[${index}]`, item]);
  return Object.entries(value as JsonObject).flatMap(([name, member]): readonly Visit[] =>
    member === undefined ? [] : [[path === '' ? name : `${path}.${name}`, member]],
  );
};

/** Integers from 2^53 on have neighbours that reading JSON makes equal to them; none of them can be trusted. */
const isInexact = (value: Json): boolean =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

/**
 * Where an integer stands that reading JSON may have changed: two calls that differ in it alone could not be told
 * apart, and what is passed on is not what was sent. Walks without recursion.
 */
export function inexactIntegerIn(args: JsonObject): string | undefined {
  const open: Visit[] = [['', args]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, value] = next;
    if (isInexact(value)) return path;
    open.push(...membersOf(path, value).toReversed());
  }
  return undefined;
}
