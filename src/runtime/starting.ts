import { crashPoint } from '../kernel/crash-point.ts';
import { newId } from '../kernel/ids.ts';
import { messageOf } from '../kernel/logger.ts';
import type { HashKey } from '../ledger/claim-key.ts';
import type { Fingerprint } from '../ledger/fingerprint.ts';
import type { EffectClass, Task } from '../protocol/model.ts';
import type { CreatedTask, CreateTask, NewOperation, OpenLimits } from '../stores/tasks.ts';
import type { Admission } from './admission.ts';
import { accessOf, type Core } from './core.ts';
import { identifyStart, type StartIdentity } from './idempotency/start-identity.ts';
import { budgetsOf, ttlMsOf } from './limits.ts';
import type { Call, Receiver, Started } from './receiver.ts';

export interface StartOptions {
  readonly core: Core;
  readonly admission: Admission;
  readonly fingerprint: Fingerprint;
  readonly hashKey: HashKey;
  readonly isDraining: () => boolean;
}

/** Recognizes or admits a call and makes it durable; what comes back may be shown (decisions 1 and 4). */
export function createStart(options: StartOptions): Receiver['start'] {
  const { core, admission, fingerprint, hashKey } = options;
  const { repeatWindowMs, retryAfterMs } = core.limits;
  return async (call) => {
    if (options.isDraining()) return { kind: 'draining' };
    const identity = identifyStart({ fingerprint, hashKey, repeatWindowMs }, call);
    if (identity.kind !== 'identified') return identity;
    const admitted = admission.admit(call);
    if (admitted.kind === 'refused') {
      const { reason, retryAfterMs: hintMs = retryAfterMs } = admitted;
      noteRefusal(core, call, reason);
      return { kind: 'full', limit: reason, retryAfterMs: hintMs };
    }
    const params = newTaskOf(core, call, { identity, open: admitted.limits });
    const created = await createSurely(core, call, params);
    switch (created.kind) {
      case 'full':
        noteRefusal(core, call, created.limit);
        return { kind: 'full', limit: created.limit, retryAfterMs };
      case 'conflict':
        return created;
      case 'existing':
        return repeatOf(core, call, { identity, existing: created });
      case 'created':
        return begin(core, call, created.task);
    }
  };
}

function noteRefusal({ refusals, logger }: Core, { tool }: Call, reason: string): void {
  refusals.add({ upstream: tool.upstream, tool: tool.name, reason });
  logger.warn('task.refused', { tool: tool.name, reason });
}

function begin(core: Core, { tool }: Call, task: Task): Started {
  const { logger, callers, announcer, engine } = core;
  logger.info('task.created', { task: core.nameInLogs(task), tool: tool.name });
  callers.enter(task.id);
  announcer.changed(task);
  engine.wake();
  return { kind: 'started', task: announcer.shown(task) };
}

interface Repeat {
  readonly identity: StartIdentity;
  readonly existing: Extract<CreatedTask, { readonly kind: 'existing' }>;
}

/** The call was made before: nothing new runs, and its caller gets what there is of it. */
function repeatOf(core: Core, { tool }: Call, { identity, existing }: Repeat): Started {
  const { by, task, operation } = existing;
  core.repeats.add({ upstream: tool.upstream, tool: tool.name, by });
  if (task && !identity.concealed) {
    core.logger.info('task.repeated', { task: core.nameInLogs(task), tool: tool.name, by });
    if (task.phase !== 'ended') core.callers.enter(task.id);
    return { kind: 'started', task: core.announcer.shown(task), deduplicated: by };
  }
  return operation ? { kind: 'known', operation, by } : { kind: 'conflict' };
}

interface NewTaskParts {
  readonly identity: StartIdentity;
  readonly open: OpenLimits;
}

/** Ids are made before the commit, so that an answer that got lost can be looked up. */
function newTaskOf(core: Core, call: Call, { identity, open }: NewTaskParts): CreateTask {
  const { principal, tool } = call;
  const { random, limits } = core;
  const { fingerprint, claim, guard } = identity;
  const budgets = budgetsOf(tool, principal.method === 'anonymous', limits);
  const operation = operationOf(tool.effect, () => ({
    id: newId('operation', random),
    argumentsDigest: fingerprint ?? '',
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
      ...(tool.journalled ? { journalled: true } : {}),
    },
    request: {
      arguments: identity.arguments,
      meta: call.meta,
      subject: principal.subject,
      ...(call.progressToken === undefined ? {} : { progressToken: call.progressToken }),
    },
    ...(operation ? { operation } : {}),
    attemptId: newId('attempt', random),
    limits: open,
    ...(claim ? { claim } : {}),
    ...(guard ? { guard } : {}),
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
    if ((await store.tasks.get('system', taskId))?.handle === 'given') return; // by an earlier call of the same
    const task = await store.tasks.setHandle(taskId, 'given');
    if (task && (task.phase !== 'working' || task.message !== undefined)) announcer.changed(task);
  };
}
