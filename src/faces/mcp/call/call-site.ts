import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import type { CallOrigin, Task } from '../../../protocol/model.ts';
import type { Call } from '../../../runtime/receiver.ts';
import type { ServedTool } from '../../../runtime/tool.ts';
import { hearEarly, type EarlyEvents } from './early-events.ts';
import { atCapacity, draining, invalidParams, noSuchTool } from '../failures.ts';
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

function callOf(site: CallSite, origin: CallOrigin, wantedTtlMs: number | undefined): Call {
  const { principal, tool, meta, asks, progressToken } = site;
  return {
    principal,
    tool,
    arguments: site.arguments,
    meta,
    origin,
    asks,
    ...(progressToken === undefined ? {} : { progressToken }),
    ...(wantedTtlMs === undefined ? {} : { wantedTtlMs }),
  };
}

/** Starts the call, durably; refuses with a structured error where there is no room. */
export async function start(
  site: CallSite,
  origin: CallOrigin,
  wantedTtlMs?: number,
): Promise<Task> {
  const started = await site.face.receiver.start(callOf(site, origin, wantedTtlMs));
  switch (started.kind) {
    case 'started':
      return started.task;
    case 'full':
      throw atCapacity(started.limit, started.retryAfterMs);
    case 'draining':
      throw draining();
  }
}

/** A call whose caller hears of it while it waits. */
export interface HeardTask {
  readonly task: Task;
  readonly early: EarlyEvents;
}

/** The same, with everything heard from the very first event on. */
export async function startHeard(site: CallSite, origin: CallOrigin): Promise<HeardTask> {
  const early = hearEarly(site.face.receiver.feed);
  try {
    return { task: await start(site, origin), early };
  } catch (error) {
    early.stop();
    throw error;
  }
}
