import type { Clock } from '../kernel/clock.ts';
import { isJsonObject, objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import { RPC_CODES } from '../protocol/names.ts';
import type { ForwardRequest, RpcFailure } from '../runtime/surface.ts';
import { RpcFailure as Failure } from '../runtime/surface.ts';
import type { ServedTool } from '../runtime/tool.ts';
import { invalidParams, methodNotFound } from './failures.ts';
import { decodeListCursor, encodeListCursor, type ListPlace } from './list-cursor.ts';
import type { LogLevels } from './log-levels.ts';
import type { OwnerSearch } from './owner-search.ts';
import { passOn, type Passing } from './passing-on.ts';
import type { Upstream } from './upstream.ts';

export interface ForwardingParts {
  readonly upstreams: readonly Upstream[];
  readonly search: OwnerSearch;
  readonly levels: LogLevels;
  readonly clock: Clock;
  readonly requestMsMax: number;
  tool(name: string): ServedTool | undefined;
}

/** Lists that are joined over the upstreams: the member that holds the items, and the capability that has them. */
const LISTS: Readonly<
  Record<string, { readonly member: string; readonly capability: string } | undefined>
> = {
  'prompts/list': { member: 'prompts', capability: 'prompts' },
  'resources/list': { member: 'resources', capability: 'resources' },
  'resources/templates/list': { member: 'resourceTemplates', capability: 'resources' },
};

/** Never passed on: each hop has these for itself (decision 17). */
const OWN_METHODS =
  /^(?:initialize$|ping$|server\/discover$|subscriptions\/|tasks\/|notifications\/|tools\/list$|logging\/|resources\/(?:un)?subscribe$)/;

/** Answers that mean: not mine. The next upstream is asked then. */
const NOT_MINE: readonly number[] = [RPC_CODES.methodNotFound, RPC_CODES.invalidParams, -32002];

/** Passes any request on to the upstream that it belongs to. Rejects with RpcFailure. */
export function createForwarding(
  parts: ForwardingParts,
): (request: ForwardRequest) => Promise<JsonObject> {
  return async (request) => {
    const { method, params } = request;
    if (OWN_METHODS.test(method)) throw methodNotFound();
    if (method === 'tools/call') return forwardCall(parts, request);
    if (LISTS[method]) return forwardList(parts, request, LISTS[method]);
    if (method === 'prompts/get') return forwardPrompt(parts, request);
    if (method === 'resources/read')
      return forwardRead(parts, request, stringAt(params, 'uri') ?? '');
    if (method === 'completion/complete') return forwardCompletion(parts, request);
    return firstToAnswer(parts.upstreams, (upstream) =>
      passOn(passing(parts, request, { upstream, params })),
    );
  };
}

function passing(
  parts: ForwardingParts,
  request: ForwardRequest,
  to: Pick<Passing, 'upstream' | 'params'>,
): Passing {
  const { levels, clock, requestMsMax } = parts;
  const logLevel = levels.levelOf(request.principal.key) ?? 'debug';
  return { ...to, request, logLevel, timeoutMs: requestMsMax, clock };
}

/** Asks one upstream after the other until one has it. */
async function firstToAnswer<T>(
  candidates: readonly Upstream[],
  ask: (upstream: Upstream) => Promise<T>,
): Promise<T> {
  let refusal: RpcFailure | undefined;
  for (const upstream of candidates) {
    try {
      return await ask(upstream);
    } catch (error) {
      if (!(error instanceof Failure) || !NOT_MINE.includes(error.code)) throw error;
      // What the likeliest says counts, unless it only does not know the method.
      if (!refusal || refusal.code === RPC_CODES.methodNotFound) refusal = error;
    }
  }
  throw refusal ?? methodNotFound();
}

function forwardCall(parts: ForwardingParts, request: ForwardRequest): Promise<JsonObject> {
  const name = stringAt(request.params, 'name') ?? '';
  const tool = parts.tool(name);
  const upstream = parts.upstreams.find(({ options }) => options.name === tool?.upstream);
  if (!tool || !upstream) throw invalidParams(`unknown tool: ${name}`);
  const params = { ...request.params, name: tool.upstreamName };
  return passOn({
    ...passing(parts, request, { upstream, params }),
    tool,
    timeoutMs: tool.runLimitMs,
  });
}

function forwardPrompt(parts: ForwardingParts, request: ForwardRequest): Promise<JsonObject> {
  const name = stringAt(request.params, 'name') ?? '';
  return firstToAnswer(parts.search.ofPrompt(name), (upstream) => {
    const params = { ...request.params, name: name.slice(upstream.options.prefix.length) };
    return passOn(passing(parts, request, { upstream, params }));
  });
}

function forwardRead(
  parts: ForwardingParts,
  request: ForwardRequest,
  uri: string,
): Promise<JsonObject> {
  return firstToAnswer(parts.search.ofUri(uri), async (upstream) => {
    const result = await passOn(passing(parts, request, { upstream, params: request.params }));
    parts.search.remember(uri, upstream);
    return result;
  });
}

function forwardCompletion(parts: ForwardingParts, request: ForwardRequest): Promise<JsonObject> {
  const ref = objectAt(request.params, 'ref') ?? {};
  const [name, uri] = [stringAt(ref, 'name'), stringAt(ref, 'uri')];
  if (ref['type'] === 'ref/prompt' && name !== undefined) {
    return firstToAnswer(parts.search.ofPrompt(name), (upstream) => {
      const own = { ...ref, name: name.slice(upstream.options.prefix.length) };
      return passOn(passing(parts, request, { upstream, params: { ...request.params, ref: own } }));
    });
  }
  const candidates = uri === undefined ? parts.upstreams : parts.search.ofUri(uri);
  const { params } = request;
  return firstToAnswer(candidates, (upstream) =>
    passOn(passing(parts, request, { upstream, params })),
  );
}

interface List {
  readonly member: string;
  readonly capability: string;
}

/**
 * One page of a joined list: a page of one upstream. Empty ones are passed over, and so is an upstream that is down:
 * its list is said to have changed when it comes back.
 */
async function forwardList(
  parts: ForwardingParts,
  request: ForwardRequest,
  list: List,
): Promise<JsonObject> {
  const able = parts.upstreams.filter(
    (upstream) => upstream.document()?.capabilities[list.capability] !== undefined,
  );
  if (able.length === 0) throw methodNotFound();
  let place = firstPlace(able, request);
  for (;;) {
    const upstream = able.find(({ options }) => options.name === place?.upstream);
    if (!upstream || !place) return { [list.member]: [] };
    const page = await readPage(parts, request, { upstream, list, place });
    const next = nextPlace(able, place, stringAt(page, 'nextCursor'));
    const { nextCursor: _theirs, ...rest } = page;
    const items = page[list.member];
    if (!next) return rest;
    if (Array.isArray(items) && items.length > 0)
      return { ...rest, nextCursor: encodeListCursor(next) };
    place = next;
  }
}

function firstPlace(able: readonly Upstream[], { params }: ForwardRequest): ListPlace | undefined {
  const { cursor } = params;
  if (cursor === undefined) return startOf(able.find(isUp) ?? able[0]);
  const place = typeof cursor === 'string' ? decodeListCursor(cursor) : undefined;
  if (!place || !able.some(({ options }) => options.name === place.upstream))
    throw invalidParams('invalid cursor');
  return place;
}

function nextPlace(
  able: readonly Upstream[],
  { upstream }: ListPlace,
  cursor: string | undefined,
): ListPlace | undefined {
  if (cursor !== undefined) return { upstream, cursor };
  const at = able.findIndex(({ options }) => options.name === upstream);
  return startOf(able.slice(at + 1).find(isUp));
}

const isUp = (upstream: Upstream): boolean => upstream.state().state !== 'down';

const startOf = (upstream: Upstream | undefined): ListPlace | undefined =>
  upstream && { upstream: upstream.options.name };

interface PageRequest {
  readonly upstream: Upstream;
  readonly list: List;
  readonly place: ListPlace;
}

async function readPage(
  parts: ForwardingParts,
  request: ForwardRequest,
  { upstream, list, place }: PageRequest,
): Promise<JsonObject> {
  const { cursor: _ours, ...rest } = request.params;
  const params = place.cursor === undefined ? rest : { ...rest, cursor: place.cursor };
  const page = await passOn(passing(parts, request, { upstream, params }));
  parts.search.learn(upstream, request.method, page);
  const items = page[list.member];
  const { prefix } = upstream.options;
  if (list.member !== 'prompts' || prefix === '' || !Array.isArray(items)) return page;
  const named = items.map((item) =>
    isJsonObject(item) ? { ...item, name: `${prefix}${stringAt(item, 'name') ?? ''}` } : item,
  );
  return { ...page, prompts: named };
}
