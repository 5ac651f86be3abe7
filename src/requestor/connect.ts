import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import type { ChildCommand } from './child-process.ts';
import { createConnection, type Connection } from './connection.ts';
import type { ClientInfo } from './envelope.ts';
import { HandshakeError, shakeHands, type Verdict } from './handshake.ts';
import { createHttpWire } from './http-wire.ts';
import { createInProcessWire, type InProcessServer } from './in-process-wire.ts';
import { createStdioWire } from './stdio-wire.ts';
import type { Wire } from './wire.ts';

/** Where a peer is. */
export type PeerTarget =
  | ({ readonly kind: 'stdio' } & ChildCommand)
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | ({ readonly kind: 'in-process' } & InProcessServer);

export interface ConnectOptions {
  readonly target: PeerTarget;
  readonly clientInfo: ClientInfo;
  /** The handshake that worked before. */
  readonly verdict?: Verdict;
  readonly clock: Clock;
  readonly random: Random;
  /** Longest message that is read, in bytes. */
  readonly maxMessageBytes: number;
  readonly timeoutMs: number;
  readonly probeMs: number;
  /** Gives the attempt up; a connection that stands by then is not touched. */
  readonly signal?: AbortSignal;
  /** Told of each child process as it starts and ends. */
  readonly onProcess?: (pid: number, state: 'started' | 'ended') => void;
  /** Lines that a child writes to its standard error, made safe to show. */
  readonly onStderr?: (line: string) => void;
}

/** How long a peer that is given up in the middle of the handshake has to end. */
const CLOSE_GRACE_MS = 2_000;

let connectionCount = 0;

/** Opens a connection and shakes hands. Rejects with LONGCALL_UPSTREAM_UNREACHABLE, and leaves nothing behind then. */
export async function connectPeer(options: ConnectOptions): Promise<Connection> {
  connectionCount += 1;
  const idPrefix = `lc${connectionCount}`;
  try {
    return await attempt(options, idPrefix);
  } catch (error) {
    // Some servers end when they are asked anything before `initialize`: they get a life without the question.
    const diedProbing = error instanceof HandshakeError && error.diedProbing;
    if (!diedProbing || options.signal?.aborted === true) throw error;
    return attempt({ ...options, verdict: { kind: 'legacy' } }, idPrefix);
  }
}

async function attempt(options: ConnectOptions, idPrefix: string): Promise<Connection> {
  const { clientInfo, clock, timeoutMs, probeMs, verdict, signal } = options;
  const wire = createWire(options, idPrefix);
  const known = verdict === undefined ? {} : { verdict };
  let closing: Promise<void> | undefined;
  const giveUp = (): void => void (closing = wire.close(CLOSE_GRACE_MS));
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const hello = await shakeHands(wire, { clientInfo, timeoutMs, probeMs, ...known });
    return createConnection({ wire, hello, clientInfo, clock, idPrefix });
  } finally {
    signal?.removeEventListener('abort', giveUp);
    await closing;
  }
}

function createWire(options: ConnectOptions, idPrefix: string): Wire {
  const { target, clock, random, maxMessageBytes, onProcess, onStderr } = options;
  if (target.kind === 'http') return createHttpWire({ ...target, clock, random, maxMessageBytes });
  if (target.kind === 'in-process') return createInProcessWire({ ...target, maxMessageBytes });
  const ownId = new RegExp(String.raw`"id"\s*:\s*"(${idPrefix}-\d+)"`);
  return createStdioWire({
    ...target,
    clock,
    maxMessageBytes,
    idIn: (excerpt) => ownId.exec(excerpt)?.[1],
    ...(onProcess === undefined ? {} : { onProcess }),
    ...(onStderr === undefined ? {} : { onStderr }),
  });
}
