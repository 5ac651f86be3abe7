import { Hono } from 'hono';
import type { Context } from 'hono';
import { OPERATION_STATES } from '../ledger/operation.ts';
import type { Operation } from '../ledger/operation.ts';
import type { Store } from '../stores/store.ts';
import { operationDocument, versioned } from './documents.ts';
import type { OperationDocument } from './documents.ts';
import type { AdminOptions } from './options.ts';
import { cursorOf, limitOf, oneOf, positionOf, queryOf } from './query.ts';
import { operationUnknown } from './refusals.ts';

const FILTERS = ['state', 'tool', 'tenant', 'idPrefix', 'limit', 'cursor'] as const;

async function readOperation(store: Store, operation: Operation): Promise<OperationDocument> {
  return operationDocument(operation, await store.tasks.get('system', operation.taskId));
}

async function listOperations(store: Store, context: Context) {
  const query = queryOf(context, FILTERS);
  const limit = limitOf(query.limit);
  const after = positionOf(query.cursor);
  const state = oneOf('state', query.state, OPERATION_STATES);
  const found = await store.operations.list('system', {
    limit: limit + 1,
    ...(after && { after }),
    ...(state && { state }),
    ...(query.tool !== undefined && { tool: query.tool }),
    ...(query.tenant !== undefined && { tenant: query.tenant }),
    ...(query.idPrefix !== undefined && { idPrefix: query.idPrefix }),
  });
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return versioned({
    items: await Promise.all(shown.map((operation) => readOperation(store, operation))),
    nextCursor: last === undefined ? null : cursorOf(last),
  });
}

/** Reads of the ledger. */
export function createOperationRoutes({ store }: AdminOptions): Hono {
  const routes = new Hono();
  routes.get('/', async (context) => context.json(await listOperations(store, context)));
  routes.get('/:id', async (context) => {
    const operation = await store.operations.get('system', context.req.param('id'));
    if (operation === undefined) throw operationUnknown();
    return context.json(versioned(await readOperation(store, operation)));
  });
  return routes;
}
