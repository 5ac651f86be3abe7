import type { Json } from '../../kernel/json.ts';
import { StepRefused } from './step-refused.ts';

/** Largest value of one step, in bytes of its JSON. What is larger belongs into a file, and its name into the journal. */
const VALUE_BYTES_MAX = 4 * 1024 ** 2;
const LEVELS_MAX = 100;

interface Visit {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

/** What kind of thing it is, for people. */
function kindOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object' && value !== null) return `an object of class ${classOf(value)}`;
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}

/** Its own code may have put anything there. */
function classOf(value: object): string {
  const { constructor } = value as { readonly constructor?: unknown };
  return (typeof constructor === 'function' && constructor.name) || '(unnamed)';
}

const isScalar = (value: unknown): boolean =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

function membersOf({ value, path, depth }: Visit): readonly Visit[] {
  const next = depth + 1;
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, at) => ({
      value: item,
      path: `${path}[${at}]`,
      depth: next,
    }));
  return Object.entries(value as object)
    .filter(([, member]) => member !== undefined) // JSON leaves these out, and so do we
    .map(([name, member]) => ({ value: member, path: `${path}.${name}`, depth: next }));
}

/** Why a value has no JSON form that would come back as it is; nothing where it has. Walks without recursion. */
function problemOf(value: unknown): string | undefined {
  const open: Visit[] = [{ value, path: 'the value', depth: 1 }];
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    if (isScalar(visit.value)) continue;
    const container = visit.value;
    if (typeof container !== 'object' || container === null)
      return `${visit.path} is ${kindOf(container)}`;
    if (!Array.isArray(container) && !isPlain(container))
      return `${visit.path} is ${kindOf(container)}`;
    if (visit.depth > LEVELS_MAX) return `it nests deeper than ${LEVELS_MAX} levels`;
    open.push(...membersOf(visit));
  }
  return undefined;
}

/**
 * What a step returned, as a later attempt will get it: a copy by way of JSON. `undefined` stays what it is.
 * @throws StepRefused where it has no JSON form, or too long a one
 */
export function journalValue(name: string, value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  const problem = problemOf(value);
  if (problem !== undefined)
    throw new StepRefused(
      name,
      `returned something that cannot be remembered: ${problem}. Return plain JSON: null, booleans, finite numbers, strings, arrays and plain objects`,
    );
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > VALUE_BYTES_MAX)
    throw new StepRefused(
      name,
      `returned ${bytes} bytes of JSON, more than the ${VALUE_BYTES_MAX} that are remembered. Keep large data in a file or an artifact, and return its name`,
    );
  return JSON.parse(text) as Json;
}

/** A copy by way of JSON, for what may be lost; nothing where it has no such form. */
export function jsonCopy(value: unknown): Json | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}
