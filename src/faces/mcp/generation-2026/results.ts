import type { JsonObject } from '../../../kernel/json.ts';
import type { ResultReply, TaskView } from '../../../protocol/codec.ts';
import type { RpcError } from '../../../protocol/model.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import { withMeta } from '../../../protocol/result-meta.ts';
import type { Face } from '../face.ts';
import { ENVELOPE } from '../meta.ts';

/** Results that say how long they are good for (G2-13). */
const CACHEABLE: readonly string[] = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];

/** Short, because upstreams come and go; `private`, because what is served may differ by principal. */
const CACHE_HINTS: JsonObject = { ttlMs: 5000, cacheScope: 'private' };
/** What a resource says may change at any time, and we would not know. */
const NO_CACHE_HINTS: JsonObject = { ttlMs: 0, cacheScope: 'private' };

function cacheHints(method: string, result: JsonObject): JsonObject {
  if (!CACHEABLE.includes(method) || result['resultType'] === 'input_required') return {};
  const defaults = method === 'resources/read' ? NO_CACHE_HINTS : CACHE_HINTS;
  const { ttlMs, cacheScope } = result;
  const ttlOk = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0;
  const scopeOk = cacheScope === 'public' || cacheScope === 'private';
  return { ...defaults, ...(ttlOk ? { ttlMs } : {}), ...(scopeOk ? { cacheScope } : {}) };
}

/** What every result of this revision carries: `resultType`, who answers, and how long it is good for (G2-15, G2-154). */
export function finishResult(face: Face, method: string, result: JsonObject): JsonObject {
  const typed = { resultType: 'complete', ...result, ...cacheHints(method, result) };
  return withMeta(typed, { [ENVELOPE.serverInfo]: face.serverInfo() });
}

const isReserved = (code: number): boolean => code <= -32_023 && code >= -32_099;

/**
 * An error under a code that this revision lets us emit (G2-124): what 2025-11-25 calls -32002 (no such resource) is
 * invalid params here, and a reserved code without a meaning is an internal error. Message and data stay.
 */
export function emittable(error: RpcError): RpcError {
  if (error.code === -32_002) return { ...error, code: RPC_CODES.invalidParams };
  return isReserved(error.code) ? { ...error, code: RPC_CODES.internalError } : error;
}

/** `elicitationId` is of 2025-11-25: here a page is correlated by what its own URL carries (G2-70, T34). */
export function questionParams(params: JsonObject): JsonObject {
  const { elicitationId: _, ...rest } = params;
  return params['mode'] === 'url' ? rest : params;
}

/** A task as this revision lets us show it: its error's code, and its questions. */
export function emittableView(view: TaskView): TaskView {
  const { outcome } = view;
  const inputs = view.inputs.map((input) => ({ ...input, params: questionParams(input.params) }));
  return outcome?.kind === 'error'
    ? { ...view, inputs, outcome: { kind: 'error', error: emittable(outcome.error) } }
    : { ...view, inputs };
}

export const finishReply = (face: Face, method: string, body: ResultReply): ResultReply =>
  body.kind === 'result'
    ? { kind: 'result', result: finishResult(face, method, body.result) }
    : { kind: 'error', error: emittable(body.error) };

/** T39: fixed by the text for these; everything else is an ordinary answer with an error in it. */
export function statusOfError({ code }: RpcError): number {
  if (code === RPC_CODES.methodNotFound) return 404;
  const refusals: readonly number[] = [
    RPC_CODES.headerMismatch,
    RPC_CODES.missingCapability,
    RPC_CODES.unsupportedVersion,
  ];
  return refusals.includes(code) ? 400 : 200;
}
