import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Receiver } from '../runtime/receiver.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { RouteMeter } from '../runtime/route-meter.ts';
import type { Surface } from '../runtime/surface.ts';
import type { Store } from '../stores/store.ts';

/** What the operator's door needs of the receiving side. */
export type OperatorRuntime = Pick<
  Runtime,
  'feed' | 'stats' | 'repeats' | 'refusals' | 'duplicates'
> & {
  readonly receiver: Pick<Receiver, 'cancelAsOperator'>;
};

/** How an upstream stands now. */
export interface UpstreamStatus {
  readonly name: string;
  readonly state: 'connecting' | 'up' | 'down';
  /** `stdio`, `http` or `in-process`. */
  readonly transport: string;
  readonly serverName?: string;
  readonly serverVersion?: string;
  readonly protocolVersion?: string;
  /** Since when it is in this state, in ms since the epoch. */
  readonly since?: number;
  /** What went wrong last, for people; no secrets. */
  readonly problem?: string;
}

/** Facts about this process. */
export interface AdminInfo {
  readonly version: string;
  readonly dataDirectory: string;
  /** Where callers reach the MCP endpoint; absent on stdio. */
  readonly mcpUrl?: string;
}

export interface AdminOptions {
  readonly store: Store;
  readonly runtime: OperatorRuntime;
  readonly surface: Pick<Surface, 'tools'>;
  /** How calls were routed since the start; absent where no face counts. */
  readonly routes?: Pick<RouteMeter, 'counts'>;
  /** Every configured upstream, up or not. */
  readonly upstreams: () => readonly UpstreamStatus[];
  readonly adminToken: string;
  /** Host names besides those of loopback. */
  readonly allowedHosts?: readonly string[];
  /** Keyed hash of an id that is a secret: what is shown of an anonymous caller's task in audit. */
  readonly hashId: (id: string) => string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** ms since the epoch. */
  readonly startedAt: number;
  readonly info: AdminInfo;
}
