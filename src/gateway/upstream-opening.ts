import { connectPeer } from '../requestor/connect.ts';
import type { Connection } from '../requestor/connection.ts';
import { keepListening, listChangesOf } from './list-watch.ts';
import { ENVELOPE_BYTES, type UpstreamOptions } from './options.ts';
import type { PeerDocument } from './peer-document.ts';
import type { Retaker } from './retaking.ts';
import type { ListName, Upstream, UpstreamParts } from './upstream.ts';

export interface Opening {
  /** The handshake that worked last. */
  readonly verdict: PeerDocument['verdict'] | undefined;
  /** Gives it up. */
  readonly signal: AbortSignal;
}

/** Opens one connection to an upstream. */
export function openConnection(
  { name, endpoint }: UpstreamOptions,
  { settings, processes }: UpstreamParts,
  { verdict, signal }: Opening,
): Promise<Connection> {
  const { clock, random, clientInfo, logger } = settings;
  return connectPeer({
    target: endpoint,
    clientInfo,
    ...(verdict === undefined ? {} : { verdict }),
    clock,
    random,
    maxMessageBytes: settings.resultBytesMax + ENVELOPE_BYTES,
    timeoutMs: settings.connectMsMax,
    signal,
    probeMs: settings.probeMs,
    onProcess: (pid, state) => (state === 'started' ? processes.add(pid) : processes.remove(pid)),
    onStderr: (line) => logger.debug('upstream.stderr', { upstream: name, line }),
  });
}

const LIST_CHANGES: Readonly<Record<string, ListName | undefined>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
};

export interface Hearing {
  readonly upstream: Upstream;
  readonly retaker: Retaker;
  readonly parts: UpstreamParts;
  readonly signal: AbortSignal;
}

/** Listens to what a connection says beside its calls. */
export function hear(connection: Connection, { upstream, retaker, parts, signal }: Hearing): void {
  const { events, settings } = parts;
  connection.onStray((method, params) => {
    const list = LIST_CHANGES[method];
    if (list === 'tools') retaker.soon(connection);
    else if (list) events.listChanged(upstream, list);
    else events.stray(upstream, { owner: upstream.pool.ownerOf(connection), method, params });
  });
  const notifications =
    connection.generation === '2026-07-28' && listChangesOf(connection.hello.capabilities);
  if (!notifications) return;
  const { clock, random } = settings;
  const onStanding = (again: boolean): void => (again ? retaker.soon(connection) : undefined);
  void keepListening(connection, { notifications, clock, random, signal, onStanding });
}
