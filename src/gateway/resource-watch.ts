import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { objectAt } from '../kernel/json.ts';
import type { Random } from '../kernel/random.ts';
import type { Connection } from '../requestor/connection.ts';
import type { Lease } from './connection-pool.ts';
import { methodNotFound } from './failures.ts';
import { createSubscribing, type Subscribing } from './resource-subscribing.ts';

const AGAIN: Backoff = { firstMs: 500, maxMs: 60_000, factor: 2 };

export interface ResourceWatchOptions {
  readonly upstream: string;
  readonly clock: Clock;
  readonly random: Random;
  /** A connection of the principal whose watch it is. */
  lease(signal: AbortSignal): Promise<Lease>;
  /** The watch had broken and stands again: whatever changed meanwhile was not heard. */
  onResumed(uris: readonly string[]): void;
}

/** One principal's subscriptions at one upstream, held across reconnects until the last is given up. */
export interface ResourceWatch {
  /** Rejects with RpcFailure where the upstream will not have it. */
  add(uri: string): Promise<void>;
  remove(uri: string): Promise<void>;
  stop(): void;
}

interface Standing {
  readonly connection: Connection;
  readonly subscribing: Subscribing;
  readonly unpin: () => void;
}

export function createResourceWatch(options: ResourceWatchOptions): ResourceWatch {
  const { clock, random, upstream } = options;
  const uris = new Set<string>();
  const stopped = new AbortController();
  let standing: Standing | undefined;
  let rising: Promise<Standing> | undefined;
  const all = (): readonly string[] => Array.from(uris);

  const rise = async (): Promise<Standing> => {
    const lease = await options.lease(stopped.signal);
    const { connection } = lease;
    const able = objectAt(connection.hello.capabilities, 'resources')?.['subscribe'] === true;
    const unpin = able ? lease.pin() : undefined;
    lease.release();
    if (!unpin) throw methodNotFound();
    const onResumed = (): void => options.onResumed(all());
    const subscribing = createSubscribing({ connection, upstream, clock, random, onResumed });
    standing = { connection, subscribing, unpin };
    connection.onClosed(() => void resume(connection));
    return { connection, subscribing, unpin };
  };
  const stand = (): Promise<Standing> => {
    if (standing?.connection.isOpen()) return Promise.resolve(standing);
    rising ??= rise().finally(() => (rising = undefined));
    return rising;
  };
  const fall = (): void => {
    standing?.subscribing.end();
    standing?.unpin();
    standing = undefined;
  };
  /** The connection is gone: everything is subscribed again on another, however long it takes. */
  const resume = async (lost: Connection): Promise<void> => {
    if (standing?.connection !== lost) return;
    fall();
    for (let failures = 0; uris.size > 0 && !stopped.signal.aborted; failures += 1) {
      await sleep(clock, backoffMs(AGAIN, failures, random), stopped.signal);
      const resumed = await stand()
        .then(({ subscribing }) => subscribing.change(all(), { added: all() }))
        .then(
          () => true,
          () => false,
        );
      if (resumed) return options.onResumed(all());
    }
  };
  return {
    async add(uri) {
      if (uris.has(uri)) return;
      uris.add(uri);
      try {
        const { subscribing } = await stand();
        await subscribing.change(all(), { added: [uri] });
      } catch (error) {
        uris.delete(uri);
        throw error;
      }
    },
    async remove(uri) {
      if (!uris.delete(uri) || !standing?.connection.isOpen()) return;
      const { subscribing } = standing;
      await subscribing.change(all(), { removed: [uri] }).finally(() => uris.size === 0 && fall());
    },
    stop() {
      stopped.abort();
      fall();
    },
  };
}
