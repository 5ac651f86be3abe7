import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createEmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { anonymousPrincipal, createPrincipal } from '../../src/identity/principal.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { createManualClock, type ManualClock } from '../../src/kernel/manual-clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createSealer } from '../../src/kernel/seal.ts';
import type { TaskView } from '../../src/protocol/codec.ts';
import type { Outcome, Task } from '../../src/protocol/model.ts';
import { createFixedAdmission } from '../../src/runtime/admission.ts';
import type { MayResume } from '../../src/runtime/core.ts';
import type { RunEnd, RunTool } from '../../src/runtime/job.ts';
import type { RuntimeLimits } from '../../src/runtime/limits.ts';
import type { Call } from '../../src/runtime/receiver.ts';
import type { HandleJob } from '../../src/runtime/steps/with-journal.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime/runtime.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import { createSqliteStore } from '../../src/stores/sqlite/store.ts';
import type { Store } from '../../src/stores/store.ts';

const person = (tenant: string, subject: string) =>
  createPrincipal({
    issuer: 'https://login.example',
    tenant,
    subject,
    method: 'token',
    scopes: ['*'],
  });

/** Two tenants; `carol` is of alice's tenant and still somebody else. */
export const ALICE = person('acme', 'alice');
export const BOB = person('globex', 'bob');
export const CAROL = person('acme', 'carol');
export const ANYONE = anonymousPrincipal();

export const readTool: ServedTool = {
  name: 'report',
  upstream: 'reports',
  upstreamName: 'report',
  mode: 'task-optional',
  effect: 'read',
  why: 'a test',
  syncWindowMs: 0,
  plainLimitMs: 60_000,
  runLimitMs: 3_600_000,
  inputAllowanceMs: 86_400_000,
  inputExpiryMs: 3_600_000,
  retentionMs: 86_400_000,
  pollIntervalMs: 1_000,
  concurrency: 16,
  definition: { name: 'report', inputSchema: { type: 'object' } },
};
export const payTool: ServedTool = {
  ...readTool,
  name: 'pay',
  upstreamName: 'pay',
  effect: 'consequential',
  definition: { name: 'pay', inputSchema: { type: 'object' } },
};

export const answered = (text: string): RunEnd => ({
  outcome: { kind: 'result', result: { content: [{ type: 'text', text }] } },
  end: 'answered',
  reason: 'answered',
});

/** What a well-behaved handler answers when it was told to stop. */
export const stopped: RunEnd = {
  outcome: { kind: 'cancelled' },
  end: 'cancelled',
  reason: 'cancelled',
};

/** Resolves when the run is told to stop. */
export const toldToStop = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

export interface SideOptions {
  readonly run: RunTool;
  /** What tools with a journal do. */
  readonly handle?: HandleJob;
  readonly confirmUrl?: () => string | undefined;
  readonly mayResume?: MayResume;
  /** The database file; a new one in a directory of its own where absent. */
  readonly path?: string;
  readonly clock?: Clock;
  readonly tools?: readonly ServedTool[];
  readonly limits?: Partial<RuntimeLimits>;
  readonly artifacts?: NonNullable<RuntimeOptions['artifacts']>;
  readonly slots?: number;
  readonly parkedMax?: number;
  /** How many one principal may have open. */
  readonly open?: number;
  /** How many all may have together; as `open` where absent. */
  readonly openInAll?: number;
  /** A store between the real one and the runtime, for failures that the real one has rarely. */
  readonly wrap?: (store: Store) => Store;
}

/** A whole receiving side on a real SQLite file, with a scripted handler. */
export interface ReceivingSide {
  readonly path: string;
  readonly store: Store;
  readonly engine: Engine;
  readonly runtime: Runtime;
  readonly bootId: string;
  /** Recovery, then claiming: what the composition root does. */
  open(): Promise<void>;
  /** Starts a call of alice's and insists that it was taken. */
  call(call?: Partial<Call>): Promise<Task>;
  view(task: Task): Promise<TaskView | undefined>;
  /** The task as the system sees it. */
  row(task: Task): Promise<Task>;
  /** Resolves with the outcome when the task has ended. */
  outcome(task: Task): Promise<Outcome>;
  operationState(task: Task): Promise<string | undefined>;
  /** Sudden death: the file is closed under the process's feet, and nothing of it writes any more. */
  die(): Promise<void>;
}

const KEY = new Uint8Array(32).fill(3);

export function freshPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'longcall-runtime-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'longcall.db');
}

export async function createReceivingSide(options: SideOptions): Promise<ReceivingSide> {
  const { path = freshPath(), clock = createManualClock(), tools = [readTool, payTool] } = options;
  const real = await createSqliteStore({ path, clock, random: systemRandom });
  const store = options.wrap?.(real) ?? real;
  const bootId = newId('boot', systemRandom);
  const engine = createEmbeddedEngine({
    store,
    owner: bootId,
    clock,
    logger: silentLogger,
    slots: options.slots ?? 64,
    parkedMax: options.parkedMax ?? 1_000,
    runningPerTool: () =>
      Object.fromEntries(tools.map(({ name, concurrency }) => [name, concurrency])),
    leaseMs: 15_000,
    sweepEveryMs: 1_000,
  });
  const { open = 10_000, openInAll: inAll = open } = options;
  const runtime = createRuntime({
    store,
    engine,
    clock,
    random: systemRandom,
    logger: silentLogger,
    admission: createFixedAdmission({ perPrincipal: open, perTenant: inAll, total: inAll }),
    sealer: createSealer(KEY),
    fingerprintKey: KEY,
    hashId: (id) => `h(${id.length})`,
    bootId,
    run: options.run,
    ...(options.handle ? { handle: options.handle } : {}),
    ...(options.confirmUrl ? { confirmUrl: options.confirmUrl } : {}),
    ...(options.mayResume ? { mayResume: options.mayResume } : {}),
    toolOf: (task) => tools.find(({ name }) => name === task.tool),
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.artifacts ? { artifacts: options.artifacts } : {}),
  });
  onTestFinished(() => real.close());

  const row = async (task: Task): Promise<Task> => {
    const found = await real.tasks.get('system', task.id);
    if (!found) throw new Error(`no task ${task.id}`);
    return found;
  };
  return {
    path,
    store: real,
    engine,
    runtime,
    bootId,
    row,
    async open() {
      await runtime.recover();
      engine.start(runtime.runAttempt);
    },
    async call(call = {}) {
      const started = await runtime.receiver.start({ ...callOf(readTool), ...call });
      if (started.kind !== 'started') throw new Error(`not started: ${JSON.stringify(started)}`);
      return started.task;
    },
    view: (task) => runtime.receiver.view(ALICE, task.id, true),
    async outcome(task) {
      await until(async () => (await row(task)).phase === 'ended');
      const outcome = await real.tasks.outcome('system', task.id);
      if (!outcome) throw new Error(`no outcome of ${task.id}`);
      return outcome;
    },
    async operationState(task) {
      const operation = await real.operations.get('system', task.operationId ?? '');
      return operation?.state;
    },
    die: () => real.close(),
  };
}

/**
 * A call of alice's, as a 2026-07-28 client that can be asked for a form makes it. Each is meant as another one: tests
 * of repeats say that theirs is none.
 */
export const callOf = (tool: ServedTool, args: JsonObject = {}): Call => ({
  principal: ALICE,
  tool,
  arguments: args,
  meta: {},
  origin: '2026-07-28',
  asks: ['elicitation-form'],
  newOperation: true,
});

/** What is left of a clock's time when its process died: the next process has a clock of its own. */
export const clockAfter = (clock: ManualClock): ManualClock => createManualClock(clock.now());

/** One turn of the event loop: whatever was ready to go has gone. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits turn by turn until it holds; the runner's own timeout is what ends a wait for nothing. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

/** Enough turns for everything that is under way and waits for no timer. */
export async function settleDown(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await turn();
}
