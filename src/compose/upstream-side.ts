import type { UpstreamStatus } from '../admin/options.ts';
import type { GatewayConfig, LimitsConfig, UpstreamConfig } from '../gateway/config/config.ts';
import { policyOf } from '../gateway/config/policy.ts';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import type { UpstreamManifest } from '../gateway/manifest.ts';
import { ENVELOPE_BYTES, type UpstreamOptions } from '../gateway/options.ts';
import type { ProcessNotes } from '../gateway/process-notes.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import { JOB_HELPERS } from '../runtime/job-tools.ts';
import type { ManifestStore } from '../stores/manifests.ts';
import { PRODUCT } from './product.ts';

export interface UpstreamSideOptions {
  readonly config: GatewayConfig;
  readonly upstreams: readonly UpstreamOptions[];
  readonly manifests: ManifestStore;
  /** Where the processes of upstreams are noted. */
  readonly processes: ProcessNotes;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A gateway over upstreams, not started yet. */
export function createUpstreamSide(options: UpstreamSideOptions): Gateway {
  const { config, upstreams, manifests, processes, clock, random, logger } = options;
  return createGateway({
    upstreams,
    manifests,
    clock,
    random,
    logger,
    clientInfo: PRODUCT,
    processes,
    resultBytesMax: messageBytesMax(
      config.limits,
      config.jobTools !== 'off' || upstreams.some(({ keepsArtifacts }) => keepsArtifacts),
    ),
    reservedNames: config.jobTools === 'off' ? [] : JOB_HELPERS,
  });
}

/**
 * What an upstream's result may have, in bytes of its JSON: the hard limit, or what an artifact of the largest size has
 * in base64. What is too large for its tool is known by then, and is said.
 */
export function messageBytesMax(
  { resultBytes, artifacts }: LimitsConfig,
  keepsArtifacts: boolean,
): number {
  const inBase64 = Math.ceil(artifacts.eachBytes / 3) * 4 + ENVELOPE_BYTES;
  return keepsArtifacts ? Math.max(resultBytes, inBase64) : resultBytes;
}

export function upstreamOptions(upstream: UpstreamConfig): UpstreamOptions {
  const { name, endpoint, prefix, connections, connectionsMax } = upstream;
  return {
    name,
    endpoint,
    prefix,
    connections,
    connectionsMax,
    keepsArtifacts: Object.values(upstream.tools).some(({ artifacts }) => artifacts === 'on'),
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
