import { Hono } from 'hono';
import { LongcallError } from '../kernel/errors.ts';
import { API_PATH } from './documents.ts';
import {
  HEALTH_PATH,
  createHostGuard,
  createTokenGuard,
  knownMethods,
  sealHeaders,
  smallBody,
} from './guard.ts';
import { createMetricsRoute } from './metrics-route.ts';
import { createOperationRoutes } from './operation-routes.ts';
import type { AdminOptions } from './options.ts';
import { createOverviewRoutes } from './overview-routes.ts';
import { refuse, refuseThrown } from './refusals.ts';
import { createTaskRoutes } from './task-routes.ts';
import { createWatchRoute } from './watch-route.ts';

/**
 * The operator's door, for a listener of its own. Every route but `/healthz` needs the admin token, unknown ones too.
 * docs/reference/admin-api.md describes the routes; `longcall tasks`, `ops` and `doctor` are clients of it.
 */
export function createAdminApp(options: AdminOptions): Hono {
  let denied = 0;
  const app = new Hono();
  app.use(sealHeaders);
  app.use(createHostGuard(options.allowedHosts ?? []));
  app.use(createTokenGuard(options.adminToken, () => (denied += 1)));
  app.use(knownMethods);
  app.use(smallBody);
  app.get(HEALTH_PATH, (context) => context.json({ ok: true }));
  app.route('/metrics', createMetricsRoute(options, { denied: () => denied }));
  app.route(`${API_PATH}/tasks`, createTaskRoutes(options));
  app.route(`${API_PATH}/tasks`, createWatchRoute(options));
  app.route(`${API_PATH}/operations`, createOperationRoutes(options));
  app.route(API_PATH, createOverviewRoutes(options));
  app.notFound((context) =>
    refuse(context, new LongcallError('LONGCALL_USAGE', 'there is no such route'), 404),
  );
  app.onError((error, context) => refuseThrown(context, error, options.logger));
  return app;
}
