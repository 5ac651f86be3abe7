import { isIdentified } from '../../identity/principal.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { HashKey } from '../../ledger/claim-key.ts';
import type { Fingerprint } from '../../ledger/fingerprint.ts';
import type { RepeatGuard, StartClaim } from '../../stores/tasks.ts';
import type { Call } from '../receiver.ts';
import { keyOfCall, withoutKeyArgument } from './call-key.ts';
import { inexactIntegerIn } from './exact-numbers.ts';

export interface IdentityParts {
  readonly fingerprint: Fingerprint;
  readonly hashKey: HashKey;
  /** Where the tool says nothing else. */
  readonly repeatWindowMs: number;
}

/** What a start is recognized by, and what the tool is called with. */
export interface StartIdentity {
  readonly kind: 'identified';
  /** Without the key, where it came as an argument. */
  readonly arguments: JsonObject;
  /** Versioned fingerprint of tool and arguments; a read that has no key needs none. */
  readonly fingerprint?: string;
  readonly claim?: StartClaim;
  readonly guard?: RepeatGuard;
  /**
   * Nobody but the operator's rule says that two callers without identity mean the same call: its repeat learns what
   * the ledger knows, never the other's task (decision 3).
   */
  readonly concealed: boolean;
}

export type IdentifiedStart =
  StartIdentity | { readonly kind: 'bad_key' | 'bad_arguments'; readonly problem: string };

/** Decides by what a call would be recognized when it comes again (decision 4). */
export function identifyStart(parts: IdentityParts, call: Call): IdentifiedStart {
  const { principal, tool } = call;
  const args = withoutKeyArgument(tool, call.arguments);
  const known = isIdentified(principal);
  const found = keyOfCall(call);
  if (found.kind === 'bad') return { kind: 'bad_key', problem: found.problem };
  // No effect can be doubled by a read, so nothing is derived for callers that cannot be told apart.
  const isNeeded = known || tool.effect !== 'read';
  const key =
    found.kind === 'key' && (found.key.source === 'caller' || isNeeded) ? found.key : undefined;
  if (key === undefined && tool.effect === 'read')
    return { kind: 'identified', arguments: args, concealed: false };
  const inexact = inexactIntegerIn(args);
  if (inexact !== undefined) return { kind: 'bad_arguments', problem: inexactWords(inexact) };
  const fingerprint = parts.fingerprint({
    tenant: principal.tenant,
    tool: `${tool.upstream}/${tool.upstreamName}`,
    arguments: args,
  });
  const scope = { owner: principal.key, upstream: tool.upstream, tool: tool.upstreamName };
  const guarded = tool.effect === 'consequential' && known && call.newOperation !== true;
  const { repeatWindowMs: afterDeliveryMs = parts.repeatWindowMs } = tool;
  return {
    kind: 'identified',
    arguments: args,
    fingerprint,
    concealed: !known && key?.source === 'derived',
    ...(key ? { claim: { keyHash: parts.hashKey(scope, key), fingerprint } } : {}),
    ...(!key && guarded ? { guard: { fingerprint, afterDeliveryMs } } : {}),
  };
}

const inexactWords = (path: string): string =>
  `arguments: ${path} is an integer beyond 2^53, which cannot be kept exactly; send it as a string`;
