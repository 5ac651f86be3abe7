import type { UpstreamStatus } from '../admin/options.ts';
import type { GatewayConfig, UpstreamConfig } from '../gateway/config/config.ts';
import { policyOf } from '../gateway/config/policy.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import type { UpstreamManifest } from '../gateway/manifest.ts';
import type { UpstreamOptions } from '../gateway/options.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import type { ManifestStore } from '../stores/manifests.ts';
import { PRODUCT } from './product.ts';

export interface UpstreamSideOptions {
  readonly config: GatewayConfig;
  readonly manifests: ManifestStore;
  /** Where the processes of upstreams are noted. */
  readonly childrenFile: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The gateway over the configured upstreams, not started yet. */
export function createUpstreamSide(options: UpstreamSideOptions): Gateway {
  const { config, manifests, childrenFile, clock, random, logger } = options;
  return createGateway({
    upstreams: config.upstreams.map(upstreamOptions),
    manifests,
    clock,
    random,
    logger,
    clientInfo: PRODUCT,
    pidsFile: childrenFile,
    resultBytesMax: config.limits.resultBytes,
  });
}

function upstreamOptions(upstream: UpstreamConfig): UpstreamOptions {
  const { name, endpoint, prefix, connections, connectionsMax } = upstream;
  return {
    name,
    endpoint,
    prefix,
    connections,
    connectionsMax,
    policyOf: (tool, annotations, taskSupport) =>
      policyOf(upstream, tool, { annotations, taskSupport }),
  };
}

/** A manifest as operators see it. */
export function statusOf(manifest: UpstreamManifest): UpstreamStatus {
  const { upstream, state, transport, name, version, protocolVersion, problem } = manifest;
  return {
    name: upstream,
    state,
    transport,
    ...(name !== undefined && { serverName: name }),
    ...(version !== undefined && { serverVersion: version }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(problem !== undefined && { problem }),
  };
}
