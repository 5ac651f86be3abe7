import { createEmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import { newId } from '../../src/kernel/ids.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import type { ManualClock } from '../../src/kernel/manual-clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createSealer } from '../../src/kernel/seal.ts';
import type { Task } from '../../src/protocol/model.ts';
import { createFixedAdmission } from '../../src/runtime/admission.ts';
import type { Job } from '../../src/runtime/job.ts';
import type { Receiver } from '../../src/runtime/receiver.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import type { JobContext } from '../../src/runtime/steps/context.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import type { Store } from '../../src/stores/store.ts';
import { answered, payTool, readTool, stopped } from '../runtime/receiving-side.ts';
import { createMortal } from './mortal.ts';

const KEY = new Uint8Array(32).fill(5);
const OPEN = 1_000_000;
export const RUN_LIMIT_MS = 60_000;
export const INPUT_EXPIRY_MS = 30_000;

const short = { runLimitMs: RUN_LIMIT_MS, inputExpiryMs: INPUT_EXPIRY_MS, retentionMs: 60_000 };
const limited = { ...short, inputAllowanceMs: 120_000 };

/** A read, a payment, and a handler with a journal that asks twice between its steps. */
export const TOOLS = {
  read: { ...readTool, ...limited, name: 'read' },
  pay: { ...payTool, ...limited, name: 'pay' },
  flow: { ...payTool, ...limited, name: 'flow', journalled: true },
} as const satisfies Readonly<Record<string, ServedTool>>;
export type ToolName = keyof typeof TOOLS;

export const FORM = {
  message: 'how many?',
  requestedSchema: {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
  },
} as const;

/** What was seen of the work, across all deaths. */
export interface Sightings {
  /** Steps whose work was done, by task and name. */
  readonly steps: Map<string, number>;
  /** Most runs of one task at one moment in one process. */
  overlaps: number;
}

/** A run of a tool without a journal, in the hands of the test. */
export interface HeldRun {
  readonly job: Job;
  finish(text: string): void;
  fail(): void;
}

/** One process over the shared records. */
export interface Life {
  readonly receiver: Receiver;
  readonly held: Map<string, HeldRun>;
  sweep(): Promise<unknown>;
  recover(): Promise<unknown>;
  /** Sudden death. */
  die(): void;
}

function countUp(counts: Map<string, number>, key: string): undefined {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Three steps with two questions between them; the result says what was answered. */
const flow = async (context: JobContext, seen: Sightings): Promise<unknown> => {
  const work = (name: string) => (): undefined => countUp(seen.steps, `${context.taskId} ${name}`);
  await context.step('first', work('first'));
  const one = await context.ask('one', { message: 'one?', schema: FORM.requestedSchema });
  await context.step('second', work('second'));
  const two = await context.ask('two', { message: 'two?', schema: FORM.requestedSchema });
  await context.step('third', work('third'));
  return { content: [{ type: 'text', text: JSON.stringify([one, two]) }] };
};

export interface LifeOptions {
  readonly shared: Store;
  readonly clock: ManualClock;
  readonly seen: Sightings;
}

export async function beginLife({ shared, seen, ...process }: LifeOptions): Promise<Life> {
  const mortal = createMortal(shared, process.clock);
  const { store, clock } = mortal;
  const bootId = newId('boot', systemRandom);
  const held = new Map<string, HeldRun>();
  const active = new Set<string>();
  const tools = Object.values(TOOLS);
  const engine = createEmbeddedEngine({
    store,
    owner: bootId,
    clock,
    logger: silentLogger,
    slots: 64,
    parkedMax: 64,
    runningPerTool: () => ({ read: 16, pay: 16, flow: 16 }),
    leaseMs: 15_000,
    sweepEveryMs: 5_000,
  });
  const run = async (job: Job) => {
    if (active.has(job.task.id)) seen.overlaps += 1;
    active.add(job.task.id);
    try {
      if (job.task.effect !== 'read' && !(await job.dispatched())) return stopped;
      return await new Promise<typeof stopped>((resolve, reject) => {
        held.set(job.task.id, {
          job,
          finish: (text) => resolve(answered(text)),
          fail: () => reject(new Error('it broke')),
        });
        job.signal.addEventListener('abort', () => resolve(stopped), { once: true });
        if (job.signal.aborted) resolve(stopped);
      });
    } finally {
      held.delete(job.task.id);
      active.delete(job.task.id);
    }
  };
  const runtime = createRuntime({
    store,
    engine,
    clock,
    random: systemRandom,
    logger: silentLogger,
    admission: createFixedAdmission({ perPrincipal: OPEN, perTenant: OPEN, total: OPEN }),
    sealer: createSealer(KEY),
    fingerprintKey: KEY,
    hashId: (id) => `h(${id.length})`,
    bootId,
    run,
    handle: ({ context }) => flow(context, seen),
    toolOf: (task: Pick<Task, 'tool'>) => tools.find(({ name }) => name === task.tool),
    limits: { queueAllowanceMs: 60_000 },
  });
  await runtime.recover();
  engine.start(runtime.runAttempt);
  return {
    receiver: runtime.receiver,
    held,
    sweep: runtime.sweep,
    recover: runtime.recover,
    die: mortal.die,
  };
}
