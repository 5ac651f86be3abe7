import { Hono } from 'hono';
import type { Context } from 'hono';
import { LongcallError } from '../kernel/errors.ts';
import { safeText } from '../kernel/text.ts';
import type { Task } from '../protocol/model.ts';
import { resultDocument, versioned } from './documents.ts';
import type { AdminOptions } from './options.ts';
import { cursorOf, limitOf, oneOf, positionOf, queryOf, reasonOf } from './query.ts';
import { taskUnknown } from './refusals.ts';
import { readTaskDetail, readTaskDocument, taskOf } from './task-reads.ts';

/** Who an operator is, as far as this endpoint can tell: whoever holds the admin token. */
const OPERATOR = 'admin';
const FILTERS = ['phase', 'tool', 'tenant', 'idPrefix', 'limit', 'cursor'] as const;

/** Reads of tasks, their results, and cancel. */
export function createTaskRoutes(options: AdminOptions): Hono {
  const routes = new Hono();
  const { store } = options;
  routes.get('/', async (context) => context.json(await listTasks(options, context)));
  routes.get('/:id', async (context) => {
    const task = await taskOf(store, context.req.param('id'));
    return context.json(versioned(await readTaskDetail(store, task)));
  });
  routes.get('/:id/result', async (context) => {
    const task = await taskOf(store, context.req.param('id'));
    return context.json(versioned(await readResult(options, task)));
  });
  routes.post('/:id/cancel', async (context) => {
    const reason = await reasonOf(context);
    const task = await taskOf(store, context.req.param('id'));
    return context.json(versioned(await cancelTask(options, task, reason)));
  });
  return routes;
}

async function listTasks({ store }: AdminOptions, context: Context) {
  const query = queryOf(context, FILTERS);
  const limit = limitOf(query.limit);
  const after = positionOf(query.cursor);
  const phase = oneOf('phase', query.phase, ['open', 'ended'] as const);
  const found = await store.tasks.list('system', {
    limit: limit + 1,
    withHandle: false,
    ...(after && { after }),
    ...(phase && { phase }),
    ...(query.tool !== undefined && { tool: query.tool }),
    ...(query.tenant !== undefined && { tenant: query.tenant }),
    ...(query.idPrefix !== undefined && { idPrefix: query.idPrefix }),
  });
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return versioned({
    items: await Promise.all(shown.map((task) => readTaskDocument(store, task))),
    nextCursor: last === undefined ? null : cursorOf(last),
  });
}

/** The record of the read is durable before the body is looked at: a read that nobody knows of cannot happen. */
async function readResult({ store }: AdminOptions, task: Task) {
  if (task.phase !== 'ended') throw stillRunning(task);
  const { id, tenant, operationId } = task;
  await store.events.append({
    type: 'admin.result_read',
    actor: OPERATOR,
    tenant,
    taskId: id,
    ...(operationId !== undefined && { operationId }),
  });
  const outcome = await store.tasks.outcome('system', id);
  if (outcome === undefined) throw taskUnknown();
  return resultDocument(await readTaskDocument(store, task), outcome);
}

function stillRunning(task: Task): LongcallError {
  const words = task.phase === 'input_required' ? 'waits for an answer' : 'is still running';
  return new LongcallError('LONGCALL_TASK_RUNNING', `the task ${words}; it has no result yet`, {
    hint: 'follow it with `longcall tasks watch`',
  });
}

async function cancelTask(options: AdminOptions, task: Task, reason: string | undefined) {
  const { store, runtime } = options;
  const { id, tenant, operationId } = task;
  await store.events.append({
    type: 'admin.cancel_requested',
    actor: OPERATOR,
    tenant,
    taskId: id,
    ...(operationId !== undefined && { operationId }),
    ...(reason !== undefined && { reason: safeText(reason) }),
  });
  const cancelled = await runtime.receiver.cancelAsOperator(id);
  if (cancelled.kind === 'missing') throw taskUnknown();
  return {
    /** `cancelled`: ended, or asked to. `already_ended`: nothing was left to stop. */
    kind: cancelled.kind,
    task: await readTaskDocument(store, cancelled.view.task),
  };
}
