import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import type { CallOrigin } from '../../../protocol/model.ts';
import { IDEMPOTENCY_KEY_META, NEW_OPERATION_META } from '../../../protocol/names.ts';
import type { Call } from '../../../runtime/receiver.ts';
import type { ServedTool } from '../../../runtime/tool.ts';
import { hearEarly, type EarlyEvents } from './early-events.ts';
import { atCapacity, draining, invalidParams, noSuchTool } from '../failures.ts';
import { alreadyCalled, badArguments, badKey, keyConflict } from '../start-failures.ts';
import type { StartedCall } from './repeated.ts';
import type { RequestSite } from './request-site.ts';

/** One `tools/call` on its way. */
export interface CallSite extends RequestSite {
  readonly tool: ServedTool;
  readonly arguments: JsonObject;
}

/** What a call's params name. Refuses what is no tool of ours (G1-97, G2-119). */
export function readCall(site: RequestSite): Pick<CallSite, 'tool' | 'arguments'> {
  const { name, arguments: given = {} } = site.params;
  if (typeof name !== 'string') throw invalidParams('name must be a string');
  if (!isJsonObject(given)) throw invalidParams('arguments must be an object');
  const tool = site.face.surface.tool(name);
  if (!tool) throw noSuchTool(name);
  return { tool, arguments: given };
}

function readWords({ words }: RequestSite): Pick<Call, 'idempotencyKey' | 'newOperation'> {
  const { idempotencyKey, newOperation } = words;
  if (idempotencyKey !== undefined && typeof idempotencyKey !== 'string')
    throw badKey(`_meta["${IDEMPOTENCY_KEY_META}"] must be text`);
  if (newOperation !== undefined && typeof newOperation !== 'boolean')
    throw invalidParams(`_meta["${NEW_OPERATION_META}"] must be true or false`);
  return {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(newOperation === undefined ? {} : { newOperation }),
  };
}

function callOf(site: CallSite, origin: CallOrigin, wantedTtlMs: number | undefined): Call {
  const { principal, tool, meta, asks, progressToken } = site;
  return {
    principal,
    tool,
    arguments: site.arguments,
    meta,
    origin,
    asks,
    ...readWords(site),
    ...(progressToken === undefined ? {} : { progressToken }),
    ...(wantedTtlMs === undefined ? {} : { wantedTtlMs }),
  };
}

/**
 * Starts the call, durably, or finds the one that it repeats; refuses with a structured error where there is no room,
 * where its key stands for another call, and where all that is left of the first one stands in the ledger.
 */
export async function start(
  site: CallSite,
  origin: CallOrigin,
  wantedTtlMs?: number,
): Promise<StartedCall> {
  const started = await site.face.receiver.start(callOf(site, origin, wantedTtlMs));
  switch (started.kind) {
    case 'started': {
      const { task, deduplicated: repeated } = started;
      return repeated === undefined ? { task } : { task, repeated };
    }
    case 'known':
      throw alreadyCalled(started);
    case 'conflict':
      throw keyConflict(started.operationId);
    case 'bad_key':
      throw badKey(started.problem);
    case 'bad_arguments':
      throw badArguments(started.problem);
    case 'full':
      throw atCapacity(started.limit, started.retryAfterMs);
    case 'draining':
      throw draining();
  }
}

/** A call whose caller hears of it while it waits. */
export interface HeardTask extends StartedCall {
  readonly early: EarlyEvents;
}

/** The same, with everything heard from the very first event on. */
export async function startHeard(site: CallSite, origin: CallOrigin): Promise<HeardTask> {
  const early = hearEarly(site.face.receiver.feed);
  try {
    return { ...(await start(site, origin)), early };
  } catch (error) {
    early.stop();
    throw error;
  }
}
