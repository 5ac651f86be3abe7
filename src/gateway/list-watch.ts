import { backoffMs, type Backoff } from '../kernel/backoff.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { objectAt, type JsonObject } from '../kernel/json.ts';
import type { Random } from '../kernel/random.ts';
import type { RpcError } from '../protocol/model.ts';
import type { Connection } from '../requestor/connection.ts';

const AGAIN: Backoff = { firstMs: 250, maxMs: 30_000, factor: 2 };
/** A subscription that lasted this long was no failed attempt. */
const STEADY_MS = 5_000;

export interface ListenOptions {
  /** The filter of `subscriptions/listen`. */
  readonly notifications: JsonObject;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** The subscription stands; `again`: after it had broken, so that what happened in between was not heard. */
  readonly onStanding: (again: boolean) => void;
  /** The peer will not have it. */
  readonly onRefused?: (error: RpcError) => void;
}

/**
 * Keeps a subscription of 2026-07-28 open while the connection and `signal` allow it (G2-106, G2-107). What it brings
 * goes to the connection's listeners. A peer that refuses it is not asked again.
 */
export async function keepListening(connection: Connection, options: ListenOptions): Promise<void> {
  const { clock, random, signal, notifications } = options;
  for (let failures = 0; connection.isOpen() && !signal.aborted; failures += 1) {
    const since = clock.monotonic();
    const again = failures > 0;
    const answer = await connection.request({
      method: 'subscriptions/listen',
      params: { notifications },
      signal,
      onAcknowledged: () => options.onStanding(again),
    });
    if (answer.kind === 'error') return options.onRefused?.(answer.error);
    // Counting goes on from one, so that the next time is known to be a repeat.
    if (clock.monotonic() - since > STEADY_MS) failures = 0;
    await sleep(clock, backoffMs(AGAIN, failures, random), signal);
  }
}

/** Which list changes the peer can tell of, as a filter; nothing where it can tell of none. */
export function listChangesOf(capabilities: JsonObject): JsonObject | undefined {
  const changes = (list: string): boolean => objectAt(capabilities, list)?.['listChanged'] === true;
  const filter = {
    ...(changes('tools') ? { toolsListChanged: true } : {}),
    ...(changes('prompts') ? { promptsListChanged: true } : {}),
    ...(changes('resources') ? { resourcesListChanged: true } : {}),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}
