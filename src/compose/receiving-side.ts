import { createEmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { Engine } from '../engine/engine.ts';
import type { GatewayConfig } from '../gateway/config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import { createFixedAdmission } from '../runtime/admission.ts';
import { DEFAULT_LIMITS } from '../runtime/limits.ts';
import { createRuntime, type Runtime } from '../runtime/runtime.ts';
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
  readonly gateway: Pick<Gateway, 'surface' | 'runTool' | 'toolOf'>;
  readonly keys: DerivedKeys;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The receiver of one process and the engine that runs its work, not started yet. */
export interface ReceivingSide {
  readonly runtime: Runtime;
  readonly engine: Engine;
}

export function createReceivingSide(options: ReceivingSideOptions): ReceivingSide {
  const { config, store, gateway, keys, clock, random, logger } = options;
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
    runningPerTool: () =>
      Object.fromEntries(surface.tools().map(({ name, concurrency }) => [name, concurrency])),
    runningPerOtherTool: UNKNOWN_TOOL_CAP,
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
    }),
    sealer: keys.sealer,
    fingerprintKey: keys.fingerprintKey,
    hashId: keys.hashId,
    bootId,
    run: gateway.runTool,
    toolOf: gateway.toolOf,
    limits: {
      outcomeBytesMax: limits.resultBytes,
      queueAllowanceMs: limits.queueTimeMs,
      anonymous: { ...DEFAULT_LIMITS.anonymous, retentionMs: retention.anonymousMs },
    },
  });
  return { runtime, engine };
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
