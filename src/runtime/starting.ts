import { crashPoint } from '../kernel/crash-point.ts';
import { newId } from '../kernel/ids.ts';
import { messageOf } from '../kernel/logger.ts';
import type { Fingerprint } from '../ledger/fingerprint.ts';
import type { EffectClass } from '../protocol/model.ts';
import type { CreatedTask, CreateTask, NewOperation, OpenLimits } from '../stores/tasks.ts';
import type { Admission } from './admission.ts';
import { accessOf, type Core } from './core.ts';
import { budgetsOf, ttlMsOf } from './limits.ts';
import type { Call, Receiver } from './receiver.ts';

export interface StartOptions {
  readonly core: Core;
  readonly admission: Admission;
  readonly fingerprint: Fingerprint;
  readonly isDraining: () => boolean;
}

/** Admits a call and makes it durable; what comes back may be shown (decision 1). */
export function createStart({
  core,
  admission,
  fingerprint,
  isDraining,
}: StartOptions): Receiver['start'] {
  const { limits, engine, announcer } = core;
  return async (call) => {
    if (isDraining()) return { kind: 'draining' };
    const admitted = admission.admit(call);
    if (admitted.kind === 'refused') {
      const { reason, retryAfterMs = limits.retryAfterMs } = admitted;
      return { kind: 'full', limit: reason, retryAfterMs };
    }
    const created = await createSurely(
      core,
      call,
      newTaskOf(core, call, { fingerprint, open: admitted.limits }),
    );
    if (created.kind === 'full')
      return { kind: 'full', limit: created.limit, retryAfterMs: limits.retryAfterMs };
    core.logger.info('task.created', { task: core.nameInLogs(created.task), tool: call.tool.name });
    announcer.changed(created.task);
    engine.wake();
    return { kind: 'started', task: announcer.shown(created.task) };
  };
}

interface NewTaskParts {
  readonly fingerprint: Fingerprint;
  readonly open: OpenLimits;
}

/** Ids are made before the commit, so that an answer that got lost can be looked up. */
function newTaskOf(core: Core, call: Call, { fingerprint, open }: NewTaskParts): CreateTask {
  const { principal, tool } = call;
  const { random, limits } = core;
  const budgets = budgetsOf(tool, principal.method === 'anonymous', limits);
  const operation = operationOf(tool.effect, () => ({
    id: newId('operation', random),
    argumentsDigest: fingerprint({
      tenant: principal.tenant,
      tool: tool.name,
      arguments: call.arguments,
    }),
  }));
  return {
    task: {
      id: newId('task', random),
      owner: principal.key,
      tenant: principal.tenant,
      origin: call.origin,
      handle: 'pending',
      upstream: tool.upstream,
      tool: tool.name,
      effect: tool.effect,
      ttlMs: ttlMsOf(budgets, limits, call.wantedTtlMs),
      pollIntervalMs: tool.pollIntervalMs,
      asks: call.asks,
      ...(operation ? { operationId: operation.id } : {}),
    },
    request: {
      arguments: call.arguments,
      meta: call.meta,
      ...(call.progressToken === undefined ? {} : { progressToken: call.progressToken }),
    },
    ...(operation ? { operation } : {}),
    attemptId: newId('attempt', random),
    limits: open,
  };
}

/** Reads have no row in the ledger: nothing that they do has to be confirmed. */
function operationOf(
  effect: EffectClass,
  make: () => Omit<NewOperation, 'effect'>,
): NewOperation | undefined {
  return effect === 'read' ? undefined : { effect, ...make() };
}

/** A create whose answer got lost is looked up by its id before anything is said about it (decision 1). */
async function createSurely(core: Core, call: Call, params: CreateTask): Promise<CreatedTask> {
  const { tasks } = core.store;
  crashPoint('before-commit');
  try {
    const created = await tasks.create(params);
    if (created.kind === 'created') crashPoint('after-commit');
    return created;
  } catch (thrown) {
    core.logger.error('task.create_failed', { tool: call.tool.name, problem: messageOf(thrown) });
    const task = await tasks.get(accessOf(call.principal), params.task.id).catch(() => undefined);
    if (!task) throw thrown;
    return { kind: 'created', task };
  }
}

/** Records that the handle left. What has changed before that is told again: until now it was nobody's to know. */
export function createHandleGiven({ store, announcer }: Core): Receiver['handleGiven'] {
  return async (taskId) => {
    const task = await store.tasks.setHandle(taskId, 'given');
    if (task && (task.phase !== 'working' || task.message !== undefined)) announcer.changed(task);
  };
}
