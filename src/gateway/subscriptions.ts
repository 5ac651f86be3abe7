import type { Principal } from '../identity/principal.ts';
import { stringAt, type JsonObject } from '../kernel/json.ts';
import { RPC_CODES } from '../protocol/names.ts';
import type { RpcFailure } from '../runtime/surface.ts';
import { EVERYBODY } from './connection-plan.ts';
import { asFailure, methodNotFound } from './failures.ts';
import type { Settings } from './options.ts';
import type { OwnerSearch } from './owner-search.ts';
import { createResourceWatch, type ResourceWatch } from './resource-watch.ts';
import { createTurns } from './turns.ts';
import type { Upstream } from './upstream.ts';

export interface SubscriptionParts {
  readonly settings: Settings;
  readonly search: OwnerSearch;
  onUpdated(principalKey: string, uri: string, params: JsonObject): void;
}

/** Subscriptions of all principals, each upstream asked once per principal and resource, whoever else asks. */
export interface Subscriptions {
  subscribe(principal: Principal, uri: string): Promise<void>;
  unsubscribe(principal: Principal, uri: string): Promise<void>;
  /** An upstream says that a resource has changed; `owner` is whose connection it said so on. */
  heard(upstream: Upstream, owner: string | undefined, params: JsonObject): void;
  stop(): void;
}

interface Subscription {
  readonly principalKey: string;
  readonly uri: string;
  readonly upstream: Upstream;
  readonly watch: ResourceWatch;
  count: number;
}

export function createSubscriptions(parts: SubscriptionParts): Subscriptions {
  const { search, onUpdated } = parts;
  const subscriptions = new Set<Subscription>();
  const watches = createWatches(parts);
  const turns = createTurns();
  const find = (principalKey: string, uri: string): Subscription | undefined =>
    Array.from(subscriptions).find(
      (held) => held.principalKey === principalKey && held.uri === uri,
    );
  const open = async (principalKey: string, uri: string): Promise<Subscription> => {
    let refusal: RpcFailure | undefined;
    for (const upstream of search.ofUri(uri)) {
      const watch = watches.of(upstream, principalKey);
      const failure = await watch.add(uri).then(
        () => undefined,
        (error: unknown) => asFailure(error, upstream.options.name),
      );
      if (!failure) return { principalKey, uri, upstream, watch, count: 0 };
      if (!refusal || refusal.code === RPC_CODES.methodNotFound) refusal = failure;
    }
    throw refusal ?? methodNotFound();
  };
  return {
    subscribe: ({ key }, uri) =>
      turns.take(key, async () => {
        const held = find(key, uri) ?? (await open(key, uri));
        subscriptions.add(held);
        held.count += 1;
      }),
    unsubscribe: ({ key }, uri) =>
      turns.take(key, async () => {
        const held = find(key, uri);
        if (!held) return;
        held.count -= 1;
        if (held.count > 0) return;
        subscriptions.delete(held);
        await held.watch.remove(uri).catch(() => undefined); // what still comes is not passed on any more
      }),
    heard(upstream, owner, params) {
      const uri = stringAt(params, 'uri') ?? '';
      const concerned = Array.from(subscriptions).filter(
        (held) =>
          held.upstream === upstream &&
          (owner === EVERYBODY || held.principalKey === owner) &&
          covers(held.uri, uri),
      );
      for (const key of new Set(concerned.map(({ principalKey }) => principalKey)))
        onUpdated(key, uri, params);
    },
    stop: () => watches.stop(),
  };
}

/** One watch for each principal at each upstream. */
function createWatches({ settings: { clock, random }, onUpdated }: SubscriptionParts) {
  const watches = new Map<string, ResourceWatch>();
  return {
    of(upstream: Upstream, principalKey: string): ResourceWatch {
      const { name } = upstream.options;
      const key = JSON.stringify([name, principalKey]);
      const lease = (signal: AbortSignal) =>
        upstream.lease({ principalKey, mayAsk: false, signal });
      const onResumed = (uris: readonly string[]): void =>
        uris.forEach((uri) => onUpdated(principalKey, uri, { uri }));
      const watch =
        watches.get(key) ??
        createResourceWatch({ upstream: name, clock, random, lease, onResumed });
      watches.set(key, watch);
      return watch;
    },
    stop: () => watches.forEach((watch) => watch.stop()),
  };
}

/** An update may name a part of what was subscribed to. */
const covers = (subscribed: string, updated: string): boolean =>
  updated === subscribed ||
  updated.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
