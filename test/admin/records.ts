import { createHash } from 'node:crypto';
import type { Principal } from '../../src/identity/principal.ts';
import { createPrincipal } from '../../src/identity/principal.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { CallEnd } from '../../src/ledger/operation.ts';
import type { EffectClass, Outcome, Task } from '../../src/protocol/model.ts';
import type { Fence } from '../../src/stores/attempts.ts';
import type { Store } from '../../src/stores/store.ts';

/** Two people in two tenants, as in every suite. */
export const ANNA = createPrincipal({
  issuer: 'test',
  tenant: 'acme',
  subject: 'anna',
  method: 'token',
  scopes: ['*'],
});
export const BORYS = createPrincipal({
  issuer: 'test',
  tenant: 'globex',
  subject: 'borys',
  method: 'token',
  scopes: ['*'],
});

/** Text that must never show up anywhere but in a result's own document. */
export const SECRET_ARGUMENT = 'canary-argument-6f1';
export const SECRET_RESULT = 'canary-result-9c2';
export const SECRET_QUESTION = 'canary-question-3d7';

export interface Recorded {
  readonly owner?: Principal;
  readonly tool?: string;
  readonly effect?: EffectClass;
  readonly origin?: Task['origin'];
  readonly ttlMs?: number;
}

const LIMITS = { perPrincipal: 10_000, perTenant: 10_000, total: 10_000 };

/** Writes a task as the runtime would, with its operation where it is no read. */
export async function recordTask(store: Store, recorded: Recorded = {}): Promise<Task> {
  const { owner = ANNA, tool = 'export_report', effect = 'read' } = recorded;
  const id = newId('task', systemRandom);
  const operationId = newId('operation', systemRandom);
  const created = await store.tasks.create({
    task: {
      id,
      owner: owner.key,
      tenant: owner.tenant,
      tool,
      effect,
      origin: recorded.origin ?? '2026-07-28',
      handle: 'given',
      upstream: 'reports',
      ttlMs: recorded.ttlMs ?? 3_600_000,
      pollIntervalMs: 1_000,
      asks: ['elicitation-form'],
      ...(effect === 'read' ? {} : { operationId }),
    },
    request: { arguments: { secret: SECRET_ARGUMENT }, meta: {} },
    ...(effect === 'read'
      ? {}
      : { operation: { id: operationId, effect, argumentsDigest: digestOf(id) } }),
    attemptId: newId('attempt', systemRandom),
    limits: LIMITS,
  });
  if (created.kind !== 'created') throw new Error(`not created: ${created.kind}`);
  return created.task;
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Takes the task's attempt, so that it runs under a lease. */
export async function claimTask(store: Store, taskId: string): Promise<Fence> {
  const claimed = await store.attempts.claim({
    owner: 'boot_test',
    leaseMs: 60_000,
    limit: 1_000,
    runningPerTool: {},
  });
  const found = claimed.find(({ attempt }) => attempt.taskId === taskId);
  if (found === undefined) throw new Error('the attempt was not queued');
  return { taskId, attemptId: found.attempt.id, epoch: found.attempt.epoch };
}

export interface Ending {
  readonly outcome?: Outcome;
  readonly callEnd?: CallEnd;
}

export const goodResult = (): JsonObject => ({ content: [{ type: 'text', text: SECRET_RESULT }] });

/** Runs the task to its end: claimed, sent, settled. */
export async function endTask(store: Store, taskId: string, ending: Ending = {}): Promise<void> {
  const fence = await claimTask(store, taskId);
  await store.attempts.markDispatched(fence);
  await store.tasks.settle({
    taskId,
    fence,
    outcome: ending.outcome ?? { kind: 'result', result: goodResult() },
    callEnd: ending.callEnd ?? 'answered',
    reason: ending.callEnd ?? 'answered',
  });
}

/** Leaves a question open at the task. */
export async function askOwner(store: Store, taskId: string): Promise<string> {
  const fence = await claimTask(store, taskId);
  const key = newId('input', systemRandom);
  const params = { message: SECRET_QUESTION, requestedSchema: { type: 'object', properties: {} } };
  await store.inputs.ask(fence, [{ key, method: 'elicitation/create', params, openMs: 60_000 }]);
  return key;
}
