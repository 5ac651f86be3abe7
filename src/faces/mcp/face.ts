import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Authenticator } from '../../identity/authenticator.ts';
import type { Principal } from '../../identity/principal.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Random } from '../../kernel/random.ts';
import type { Sealer } from '../../kernel/seal.ts';
import type { JobToolsSetting } from '../../runtime/job-tools.ts';
import type { Receiver } from '../../runtime/receiver.ts';
import { createRouteMeter, type RouteMeter } from '../../runtime/route-meter.ts';
import type { Surface } from '../../runtime/surface.ts';
import { createPatience, type Patience } from '../job-tools/patience.ts';
import { createHandleDesk, type HandleDesk } from './call/handle-desk.ts';
import { createReadGate, READ_RATE, type ReadGate, type ReadRate } from './read-gate.ts';
import { createResourceWatch, type ResourceWatch } from './resource-watch.ts';

/** What a face serves and with what. All durations in ms. */
export interface FaceOptions {
  readonly receiver: Receiver;
  readonly surface: Surface;
  readonly authenticator: Authenticator;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Host names that requests may name in `Host` and `Origin`; loopback names are always in. */
  readonly allowedHosts: readonly string[];
  readonly maxBodyBytes: number;
  /** Fills in where the surface does not say who it is. */
  readonly product: { readonly name: string; readonly version: string };
  /** How often a quiet stream carries a comment. Default 15 s. */
  readonly keepAliveMs?: number;
  /** How long a session without requests and open streams is kept. Default 30 min. */
  readonly sessionIdleMs?: number;
  /** How long an `InputRequiredResult` waits for its retry. Default 5 min. */
  readonly holdMs?: number;
  /** How often one principal may read status. Default: 100 a second, 500 at once. */
  readonly statusReads?: ReadRate;
  /** Whether callers without Tasks are given handles for job tools. Default: off. */
  readonly jobTools?: JobToolsSetting;
  /** Counts how calls are routed. */
  readonly routes?: RouteMeter;
}

/** Streamable HTTP at `/mcp`, both generations and older ones. */
export interface HttpFace {
  handler(req: IncomingMessage, res: ServerResponse): void;
  /** Ends listens gracefully and streams with a hint to come back; answers what still waits; takes nothing new. */
  close(): Promise<void>;
}

export interface StdioFaceOptions extends FaceOptions {
  readonly input: Readable;
  /** Gets nothing but newline-delimited JSON-RPC. */
  readonly output: Writable;
  readonly principal: Principal;
}

export interface StdioFace {
  /** Resolves when the input has ended and everything owed was written. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 15_000;
const SESSION_IDLE_MS = 30 * 60_000;
const HOLD_MS = 5 * 60_000;

/** What the parts of one face share. */
export interface Face extends Required<FaceOptions> {
  readonly reads: ReadGate;
  readonly patience: Patience;
  readonly handles: HandleDesk;
  readonly resources: ResourceWatch;
  /** Aborted when the face closes: whoever waits for long answers or ends now. */
  readonly closing: AbortSignal;
  close(): void;
  serverInfo(): JsonObject;
}

export function createFace(options: FaceOptions): Face {
  const closing = new AbortController();
  const { receiver, surface, logger, product, statusReads = READ_RATE } = options;
  return {
    ...options,
    keepAliveMs: options.keepAliveMs ?? KEEP_ALIVE_MS,
    sessionIdleMs: options.sessionIdleMs ?? SESSION_IDLE_MS,
    holdMs: options.holdMs ?? HOLD_MS,
    statusReads,
    reads: createReadGate(options.clock, statusReads),
    jobTools: options.jobTools ?? 'off',
    routes: options.routes ?? createRouteMeter(),
    patience: createPatience(options.clock),
    handles: createHandleDesk(receiver, logger),
    resources: createResourceWatch(surface, logger),
    closing: closing.signal,
    close: () => closing.abort('closing'),
    serverInfo: () => ({ ...product, ...surface.info().serverInfo }),
  };
}
