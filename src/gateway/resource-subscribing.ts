import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import type { Random } from '../kernel/random.ts';
import type { Connection } from '../requestor/connection.ts';
import { RpcFailure } from '../runtime/surface.ts';
import { failureOf } from './failures.ts';
import { keepListening } from './list-watch.ts';

const REQUEST_MS_MAX = 30_000;

export interface SubscribingOptions {
  readonly connection: Connection;
  readonly upstream: string;
  readonly clock: Clock;
  readonly random: Random;
  /** What is subscribed to was out of hearing for a while. */
  onResumed(): void;
}

/** How resources are subscribed to on one connection, in its generation. Rejects with RpcFailure. */
export interface Subscribing {
  /** `all`: everything that is subscribed to from now on. */
  change(
    all: readonly string[],
    change: { readonly added?: readonly string[]; readonly removed?: readonly string[] },
  ): Promise<void>;
  end(): void;
}

export function createSubscribing(options: SubscribingOptions): Subscribing {
  return options.connection.generation === '2026-07-28'
    ? byListening(options)
    : byRequests(options);
}

/** Before 2026-07-28: one request for each. */
function byRequests({ connection, upstream }: SubscribingOptions): Subscribing {
  const tell = (method: string) => async (uri: string) => {
    const answer = await connection.request({ method, params: { uri }, timeoutMs: REQUEST_MS_MAX });
    if (answer.kind !== 'result') throw failureOf(answer, upstream);
  };
  return {
    async change(_all, { added = [], removed = [] }) {
      await Promise.all([
        ...added.map(tell('resources/subscribe')),
        ...removed.map(tell('resources/unsubscribe')),
      ]);
    },
    end: () => undefined,
  };
}

/** 2026-07-28: a held request names them all; a new one takes the place of the old one, without a gap. */
function byListening({ connection, clock, random, onResumed }: SubscribingOptions): Subscribing {
  let listening: AbortController | undefined;
  return {
    async change(all) {
      const before = listening;
      if (all.length === 0) return before?.abort();
      const control = new AbortController();
      listening = control;
      const settled = createDeferred<RpcFailure | undefined>();
      const over = keepListening(connection, {
        notifications: { resourceSubscriptions: all },
        clock,
        random,
        signal: control.signal,
        onStanding(again) {
          settled.resolve(undefined);
          if (again) onResumed();
        },
        onRefused: ({ code, message, data }) =>
          settled.resolve(new RpcFailure(code, message, data)),
      });
      void over.then(() => settled.resolve(undefined));
      const failure = await settled.promise;
      if (!failure) return before?.abort();
      listening = before; // what was subscribed to before still is
      throw failure;
    },
    end: () => listening?.abort(),
  };
}
