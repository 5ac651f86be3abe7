import { getRequestListener } from '@hono/node-server';
import { createAdminApp } from '../admin/app.ts';
import type { AdminOptions } from '../admin/options.ts';
import type { ListenAddress } from '../gateway/config/config.ts';
import { listen, type HttpListener } from './http-listener.ts';

/** Operators and their scripts, and no more. */
const CONNECTIONS_MAX = 64;

/** The operators' API on a listener of its own. */
export function openAdminDoor(
  options: AdminOptions,
  address: ListenAddress,
): Promise<HttpListener> {
  const app = createAdminApp(options);
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const { clock, logger } = options;
  return listen({
    address,
    key: 'listen.admin',
    connectionsMax: CONNECTIONS_MAX,
    clock,
    logger,
    handler: (request, response) => void answer(request, response),
  });
}
