import { isIdentified } from '../../identity/principal.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { messageOf } from '../../kernel/logger.ts';
import { safeText } from '../../kernel/text.ts';
import type { IdempotencyKey } from '../../ledger/claim-key.ts';
import type { Call } from '../receiver.ts';
import type { IdempotencyPolicy, ServedTool } from '../tool.ts';

export const KEY_BYTES_MAX = 128;

/**
 * Anonymous callers are one principal: a key of theirs is as much a secret as a task's id, and one that others use
 * too would hand them what is not theirs (decision 3). This is what a UUID or 128 random bits have at least.
 */
export const ANONYMOUS_KEY_BYTES_MIN = 22;

export type CallKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly key: IdempotencyKey }
  | { readonly kind: 'bad'; readonly problem: string };

type KeyedCall = Pick<Call, 'principal' | 'tool' | 'arguments' | 'idempotencyKey'>;

const NONE: CallKey = { kind: 'none' };
const bad = (problem: string): CallKey => ({ kind: 'bad', problem });

/**
 * The key of a call (decision 4). What the operator derives from arguments goes before what a caller chose: a model
 * that makes up a fresh key for each try must not get past it (D5).
 */
export function keyOfCall(call: KeyedCall): CallKey {
  const { derive, from } = call.tool.idempotency ?? {};
  const made = derive ? madeKey(derive, call.arguments) : NONE;
  if (made.kind !== 'none') return made;
  const named = from ? namedKey(from, call.arguments) : NONE;
  return named.kind === 'none' ? callersKey(call) : named;
}

const derived = (value: Json): CallKey => ({ kind: 'key', key: { source: 'derived', value } });

/** The rule is somebody else's code: what it throws, or returns beside text, refuses the call. */
function madeKey(derive: NonNullable<IdempotencyPolicy['derive']>, args: JsonObject): CallKey {
  try {
    const made: unknown = derive(args);
    if (made === undefined) return NONE;
    return typeof made === 'string' && made !== ''
      ? derived(['made', made])
      : bad('the tool’s rule for idempotency keys made none of these arguments');
  } catch (thrown) {
    return bad(`the tool’s rule for idempotency keys failed: ${safeText(messageOf(thrown))}`);
  }
}

/** None where one of the named arguments is missing: half a key would join calls that are different. */
function namedKey(names: readonly string[], args: JsonObject): CallKey {
  const named = names.map((name): readonly Json[] => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return value === undefined ? [] : [name, value];
  });
  return named.every((entry) => entry.length > 0) ? derived(['from', ...named]) : NONE;
}

function callersKey({ principal, tool, arguments: args, idempotencyKey }: KeyedCall): CallKey {
  const name = tool.idempotency?.argument;
  const argued = name !== undefined && Object.hasOwn(args, name) ? args[name] : undefined;
  if (argued !== undefined && typeof argued !== 'string')
    return bad(`the argument ${name} is an idempotency key and must be text`);
  if (argued !== undefined && idempotencyKey !== undefined && argued !== idempotencyKey)
    return bad(`two different idempotency keys were given, in _meta and in the argument ${name}`);
  const value = idempotencyKey ?? argued;
  if (value === undefined) return NONE;
  const problem = problemOf(value, isIdentified(principal));
  return problem === undefined ? { kind: 'key', key: { source: 'caller', value } } : bad(problem);
}

function problemOf(key: string, identified: boolean): string | undefined {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0) return 'an idempotency key must not be empty';
  if (bytes > KEY_BYTES_MAX)
    return `an idempotency key has at most ${KEY_BYTES_MAX} bytes; this one has ${bytes}`;
  if (!identified && bytes < ANONYMOUS_KEY_BYTES_MIN)
    return `without identity an idempotency key needs at least ${ANONYMOUS_KEY_BYTES_MIN} bytes that nobody can guess, such as a UUID`;
  return undefined;
}

/** The arguments as the tool gets them: without the key, unless the tool has an argument of that name itself. */
export function withoutKeyArgument({ idempotency }: ServedTool, args: JsonObject): JsonObject {
  const name = idempotency?.argument;
  if (name === undefined || idempotency?.keepArgument || !Object.hasOwn(args, name)) return args;
  const { [name]: _, ...rest } = args;
  return rest;
}
