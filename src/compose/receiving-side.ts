import { createEmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { Engine } from '../engine/engine.ts';
import type { GatewayConfig } from '../gateway/config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { MayStill } from '../identity/standing.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import { createFixedAdmission } from '../runtime/admission.ts';
import { DEFAULT_LIMITS } from '../runtime/limits.ts';
import { createRuntime, type Runtime } from '../runtime/runtime.ts';
import type { Surface } from '../runtime/surface.ts';
import type { ServedTool } from '../runtime/tool.ts';
import type { HandleJob } from '../runtime/steps/with-journal.ts';
import type { BlobStore } from '../stores/artifacts.ts';
import type { Store } from '../stores/store.ts';
import type { DerivedKeys } from './keys.ts';

/** Calls that run at once in this process, whatever their tools; caps of tools and principals hold below it. */
const SLOTS = 128;
const ENGINE_SWEEP_MS = 5_000;
/** What runs at once of a tool whose upstream was not reached yet: it may be one that must not run beside itself. */
const UNKNOWN_TOOL_CAP = 1;

export interface ReceivingSideOptions {
  readonly config: GatewayConfig;
  readonly store: Store;
  /** Content of artifacts. */
  readonly blobs: BlobStore;
  readonly gateway: Pick<Gateway, 'runTool' | 'toolOf'> & {
    readonly surface: Pick<Surface, 'tools'>;
  };
  /** Upstreams that are not to be had here now: their tasks stay queued. */
  readonly exceptUpstreams?: () => readonly string[];
  /** What tools with a journal do; absent where there are none. */
  readonly handle?: HandleJob;
  readonly keys: DerivedKeys;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Where pages confirm over HTTP, once somebody listens there. */
  readonly confirmUrl?: () => string | undefined;
  /** Whether the owner of a call may still make it; absent where who calls is known to somebody else. */
  readonly mayStill?: MayStill;
}

/** The receiver of one process and the engine that runs its work, not started yet. */
export interface ReceivingSide {
  readonly runtime: Runtime;
  readonly engine: Engine;
}

export function createReceivingSide(options: ReceivingSideOptions): ReceivingSide {
  const { config, store, gateway, keys, clock, random, logger, mayStill } = options;
  const { limits, retention } = config;
  const bootId = newId('boot', random);
  const { surface } = gateway;
  const engine = createEmbeddedEngine({
    store,
    owner: bootId,
    clock,
    logger,
    slots: SLOTS,
    parkedMax: limits.openTotal,
    runningPerTool: () => capsOf(surface.tools()),
    runningPerOtherTool: UNKNOWN_TOOL_CAP,
    ...(options.exceptUpstreams ? { exceptUpstreams: options.exceptUpstreams } : {}),
    leaseMs: DEFAULT_LIMITS.leaseMs,
    sweepEveryMs: ENGINE_SWEEP_MS,
  });
  const runtime = createRuntime({
    store,
    engine,
    clock,
    random,
    logger,
    admission: createFixedAdmission({
      perPrincipal: limits.openPerPrincipal,
      perTenant: limits.openPerTenant,
      total: limits.openTotal,
      bytesPerPrincipal: limits.bytesPerPrincipal,
      bytesPerTenant: limits.bytesPerTenant,
    }),
    sealer: keys.sealer,
    fingerprintKey: keys.fingerprintKey,
    hashId: keys.hashId,
    ...(options.confirmUrl ? { confirmUrl: options.confirmUrl } : {}),
    mayResume: (task) => mayStill?.('tool.call', task) ?? true,
    bootId,
    run: gateway.runTool,
    ...(options.handle ? { handle: options.handle } : {}),
    toolOf: gateway.toolOf,
    artifacts: {
      blobs: options.blobs,
      policy: {
        bytesMax: limits.artifacts.eachBytes,
        aboveBytes: limits.artifactAboveBytes,
        perPrincipalBytes: limits.artifacts.perPrincipalBytes,
        perTenantBytes: limits.artifacts.perTenantBytes,
        totalBytes: limits.artifacts.totalBytes,
        keepMs: retention.artifactsMs,
      },
    },
    limits: {
      outcomeBytesMax: limits.resultBytes,
      queueAllowanceMs: limits.queueTimeMs,
      anonymous: { ...DEFAULT_LIMITS.anonymous, retentionMs: retention.anonymousMs },
    },
  });
  return { runtime, engine };
}

/** Tools of several windows may have one name: then the smallest of their caps holds for all of them together. */
function capsOf(tools: readonly ServedTool[]): Readonly<Record<string, number>> {
  const caps = new Map<string, number>();
  for (const { name, concurrency } of tools)
    caps.set(name, Math.min(concurrency, caps.get(name) ?? concurrency));
  return Object.fromEntries(caps);
}

/** How often to look whether the last running call has ended. */
const LOOK_MS = 20;

/**
 * Ends the work: nothing new begins, running calls have `graceMs`, and whoever waits for one gets its answer. What
 * waits for a person is not waited for; like everything that does not end it is left to the recovery of the next start.
 */
export async function endWork(
  { runtime, engine }: ReceivingSide,
  clock: Clock,
  graceMs: number,
): Promise<void> {
  runtime.drain();
  await engine.stop(0);
  const deadline = clock.monotonic() + graceMs;
  while (engine.runningCount() > 0 && clock.monotonic() < deadline) await sleep(clock, LOOK_MS);
  await runtime.close(0);
}
