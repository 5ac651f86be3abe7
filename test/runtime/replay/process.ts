import { createEmbeddedEngine } from '../../../src/engine/embedded/embedded-engine.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { silentLogger } from '../../../src/kernel/logger.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { createSealer } from '../../../src/kernel/seal.ts';
import { createFixedAdmission } from '../../../src/runtime/admission.ts';
import type { JobContext } from '../../../src/runtime/steps/context.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/runtime.ts';
import type { ServedTool } from '../../../src/runtime/tool.ts';
import type { Store } from '../../../src/stores/store.ts';

const KEY = new Uint8Array(32).fill(3);
const OPEN_MAX = 10_000;

export interface ProcessOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly tool: ServedTool;
  readonly handler: (job: JobContext) => unknown;
}

/** One process with a runtime over a store that it does not own. Nothing of it is mocked but what it is given. */
export interface TestProcess {
  readonly runtime: Runtime;
  readonly engine: Engine;
  /** Recovery, then claiming and sweeping: what the composition root does. */
  open(): Promise<void>;
}

export function createTestProcess({ store, clock, tool, handler }: ProcessOptions): TestProcess {
  const bootId = newId('boot', systemRandom);
  const engine = createEmbeddedEngine({
    store,
    owner: bootId,
    clock,
    logger: silentLogger,
    slots: 8,
    parkedMax: 8,
    runningPerTool: () => ({ [tool.name]: tool.concurrency }),
    leaseMs: 15_000,
    sweepEveryMs: 1_000,
  });
  const runtime = createRuntime({
    store,
    engine,
    clock,
    random: systemRandom,
    logger: silentLogger,
    admission: createFixedAdmission({
      perPrincipal: OPEN_MAX,
      perTenant: OPEN_MAX,
      total: OPEN_MAX,
    }),
    sealer: createSealer(KEY),
    fingerprintKey: KEY,
    hashId: (id) => `h(${id.length})`,
    bootId,
    run: () => Promise.reject(new Error('every tool here keeps a journal')),
    handle: ({ context }) => handler(context),
    toolOf: () => tool,
    limits: { attemptsMax: 1_000 },
  });
  return {
    runtime,
    engine,
    async open() {
      await runtime.recover();
      engine.start(runtime.runAttempt);
      runtime.startSweeping();
    },
  };
}
