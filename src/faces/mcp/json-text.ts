/** How deep a message may nest. Deeper is no message of this protocol, but an attack on whoever walks it. */
export const JSON_DEPTH_MAX = 64;

export type JsonText =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'malformed' }
  /** Well-formed, but not taken: nested too deep, a member named `__proto__`, or a number that no double can hold. */
  | {
      readonly kind: 'unsafe';
      readonly problem: string;
      /** For nothing but the id of a request that has to be refused. */
      readonly value: unknown;
    };

type Visit = readonly [value: object, depth: number];

function problemAt(value: object, depth: number): string | undefined {
  if (depth > JSON_DEPTH_MAX) return `nested deeper than ${JSON_DEPTH_MAX} levels`;
  return Object.hasOwn(value, '__proto__') ? 'a member is named __proto__' : undefined;
}

/** Walks without recursion, so that depth costs no stack. */
function problemIn(root: object): string | undefined {
  const open: Visit[] = [[root, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next;
    const problem = problemAt(value, depth);
    if (problem !== undefined) return problem;
    for (const member of Object.values(value) as readonly unknown[]) {
      // 1e999 is read as Infinity, and would be kept and passed on as null.
      if (typeof member === 'number' && !Number.isFinite(member)) return 'a number is too large';
      if (typeof member === 'object' && member !== null) open.push([member, depth + 1]);
    }
  }
  return undefined;
}

/** Parses text from a peer. */
export function readJsonText(text: string): JsonText {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'malformed' };
  }
  const problem = typeof value === 'object' && value !== null ? problemIn(value) : undefined;
  return problem === undefined ? { kind: 'value', value } : { kind: 'unsafe', problem, value };
}
